import type { ProblemRow } from './problem.ts'

/** Why a process refuses to start, or a command line is wrong: nothing was done. */
export const startProblems = {
  broken: {
    what: 'Something of grokbot itself, or of what it stands on, is broken.',
    why: 'A full disk, a lost mount, a program that was killed; or a fault of ours.',
    next: ['see where: set `LOG_LEVEL=debug` and start it again', 'try every part: `grokbot doctor`'],
  },
  'command-line': {
    what: 'The command line is not understood.',
    why: 'There is no such sub-command or option, or something that belongs to it is missing.',
    next: ['see what there is: `grokbot --help`, `grokbot run --help`'],
  },
  'option-value': {
    what: 'An option or an argument has a value that it can not have.',
    why: 'A number that is none or is out of its range, an address that is none, a word that is not among those it takes.',
    next: ['see what it takes: the sub-command with `--help`'],
  },
  'options-clash': {
    what: 'What was given can not stand together, or one of two things has to be named and is not.',
    why: 'Each of them asks for something else, so that one would have to be left out without a word.',
    next: ['give one of them; see the sub-command with `--help`'],
  },
  'unknown-code': {
    what: 'There is no such code in the error catalogue.',
    why: 'It is misspelled, or comes from another version.',
    next: ['see all of them: `grokbot explain`'],
  },
  'file-missing': {
    what: 'A file that was named is not there, or is no file.',
    why: 'The path is misspelled, or is meant from another folder.',
    next: ['look at the path; it counts from the folder where the command was given'],
  },
  'file-too-large': {
    what: 'A file is larger than what it is read for may be.',
    why: 'Mostly it is another file than the one that was meant.',
    next: ['look at the path, and at the size the message names'],
  },
  'file-unreadable': {
    what: 'A file can not be read.',
    why: 'The user of this process may not read it (`EACCES`), or its path can not be followed (`ELOOP`, `ENAMETOOLONG`).',
    next: ['look at its owner and mode: `ls -l FILE`'],
  },
  'folder-missing': {
    what: 'A folder that was named is not there.',
    why: 'The path is misspelled, or is meant from another folder.',
    next: ['name the repository: `--repo DIR`'],
  },
  'file-exists': {
    what: 'The configuration that was to be begun is there already.',
    why: '`config init` writes over nothing.',
    next: ['check it: `grokbot config check`'],
  },
  'file-unwritable': {
    what: 'A file can not be written.',
    why: 'The user of this process may not write there, or the disk is full or read-only.',
    next: ['look at the folder: `ls -ld DIR`, `df DIR`'],
  },
  'data-folder-unusable': {
    what: 'The data folder can not be made or entered.',
    why: 'The user of this process may not write there, or a part of the path is a file.',
    next: ['name another one: `--data DIR`, or set `GROKBOT_DATA`'],
  },
  'data-folder-closed': {
    what: 'The user of a session can not pass through a folder above its own.',
    why: 'As root each session runs as a user of its own, who needs the execute bit on each folder down to its work tree.',
    next: ['allow passing through: `chmod o+x FOLDER`', 'name another data folder: `--data DIR`'],
  },
  'ledger-missing': {
    what: 'There is no ledger in the data folder.',
    why: 'Nothing was ever run with this data folder, or it is another one than the one that was used.',
    next: ['name the data folder: `--data DIR`, or set `GROKBOT_DATA`'],
  },
  'task-unknown': {
    what: 'There is no task of that name in the data folder.',
    why: 'The id is misspelled, or the task lies in another data folder.',
    next: ['see what there is: `grokbot runs list`'],
  },
  'task-erased': {
    what: 'The task has ended and was erased.',
    why: 'Somebody erased it; its headers are left, and there is nothing to go on with or to show.',
    next: ['give the command again: `grokbot run`'],
  },
  'task-busy': {
    what: 'Another process is working on the task.',
    why: 'A task belongs to one process at a time.',
    next: ['watch it: `grokbot runs show TASK`', 'stop it: `grokbot stop TASK`'],
  },
  'task-open': {
    what: 'The task has not ended, so it can not be erased.',
    why: 'It waits or runs, and what it records would come after the erasure.',
    next: ['stop it first: `grokbot stop TASK`'],
  },
  'environment-invalid': {
    what: 'An environment variable has a value that can not be used.',
    why: 'The variables that grokbot reads are checked before anything is started.',
    next: ['look at the variables the message names; README.md lists all'],
  },
  'app-not-configured': {
    what: 'The GitHub App is not configured.',
    why: 'Without its id, its private key and the secret of its webhook nothing can be received or sent.',
    next: ['set `APP_ID`, `WEBHOOK_SECRET`, and `PRIVATE_KEY` or `PRIVATE_KEY_PATH`'],
  },
  'app-key-invalid': {
    what: 'The private key of the GitHub App can not be read as a key.',
    why: 'The text is cut, is another file, or its line ends were lost on the way into the variable.',
    next: ['set `PRIVATE_KEY_PATH` to the .pem file as GitHub gave it', 'in `PRIVATE_KEY` write each line end as `\\n`'],
  },
  'owners-empty': {
    what: '`ALLOWED_OWNERS` is set and names nobody.',
    why: 'Only commas and spaces are in it.',
    next: ['separate users and organisations by commas'],
  },
  'owners-unset': {
    what: '`ALLOWED_OWNERS` is not set, and in production it has to be.',
    why: 'A public App can be installed by anybody, who would then spend the money of its operator.',
    next: ['name the users and organisations this App works for, separated by commas'],
  },
  'redis-unset': {
    what: '`REDIS_URL` is not set.',
    why: '`grokbot app` and `grokbot worker` ring for each other over Redis.',
    next: [
      'set it to the Redis of this installation, such as `redis://127.0.0.1:6379`',
      'run all of it in one process, without Redis: `grokbot serve`',
    ],
  },
  'webhook-secret-unset': {
    what: '`WEBHOOK_SECRET` is not set.',
    why: 'What is delivered is signed with it, and the server takes nothing else.',
    next: ['set it to the secret of the server that is sent to'],
  },
  'worker-holds-secrets': {
    what: "A worker was started with the App's secrets in its environment.",
    why: 'A worker runs what a model has written; it gets a token for each step from the app and must hold no key.',
    next: ["take them out of this process's environment; only `grokbot app` needs them"],
  },
  'port-in-use': {
    what: 'The port is in use.',
    why: 'Another process listens there, perhaps one of grokbot.',
    next: ['name another one: `--port N`', 'another process may share this data folder, on a port of its own'],
  },
  'port-forbidden': {
    what: 'This user may not listen on the port.',
    why: 'Ports below 1024 belong to root.',
    next: ['name one above 1023: `--port N`'],
  },
  'address-unknown': {
    what: 'This machine does not have the address it was to listen on.',
    why: 'The address belongs to another machine, or its name is not known here.',
    next: ['name another one: `--host ADDRESS`'],
  },
  'model-unset': {
    what: 'No model is configured.',
    why: 'Neither `OPENAI_API_KEY`, `OPENAI_BASE_URL` nor `XAI_API_KEY` is set.',
    next: ['set `OPENAI_API_KEY` (and `OPENAI_BASE_URL`, `OPENAI_MODEL` for another endpoint), or `XAI_API_KEY`'],
  },
  'model-script-invalid': {
    what: 'The file of `--model-script` is not a list of turns.',
    why: 'It is no JSON array, or a turn in it has other fields than `text` and `toolCalls`.',
    next: ['write it as `[{"toolCalls": [{"name": "read", "arguments": {}}]}, {"text": "Done"}]`'],
  },
  'operator-file-missing': {
    what: '`GROKBOT_CONFIG` names a file that is not there.',
    why: 'The path is misspelled, or the file is not mounted.',
    next: ['look at the path, or begin one: `grokbot config init --operator`'],
  },
  'operator-file-invalid': {
    what: "The operator's file can not be used.",
    why: 'It is no YAML, or has a key or a value that this version does not know.',
    next: ['check it: `grokbot config check`'],
  },
  'tenants-profile': {
    what: 'The sandbox profile is for one tenant, and several are served.',
    why: 'In that profile what one tenant runs could reach what another one runs.',
    next: ['choose `workspace` or `strict`: `sandbox.profile`', 'serve one owner: `ALLOWED_OWNERS`'],
  },
  'tenants-one-user': {
    what: 'Several tenants would share one Unix user, which only the sandbox keeps apart.',
    why: 'Without root no session can have a user of its own.',
    next: ['start as root, so that each session has a user of its own', 'say that this is meant: `sandbox.singleUidTenants: true`'],
  },
  'signing-key-invalid': {
    what: 'Receipts can not be signed.',
    why: 'The signing key is no Ed25519 key in PEM, or the command that signs does not do so.',
    next: ['make a key: `openssl genpkey -algorithm ed25519 -out signing.pem`, and set `GROKBOT_SIGNING_KEY` to its text'],
  },
  'public-key-missing': {
    what: 'What was named holds no Ed25519 public key in PEM.',
    why: 'It is another file, another kind of key, or the private one.',
    next: ['ask the operator for `keys/public` of the data folder', 'of a private key: `openssl pkey -in signing.pem -pubout`'],
  },
  'keys-over-http': {
    what: 'Public keys are fetched over https only.',
    why: 'Over http somebody on the way could put keys of their own in the place of these.',
    next: ['download them yourself and give `--keys` the file'],
  },
  'keys-unreachable': {
    what: 'The address of the public keys gives none.',
    why: 'It can not be reached, leads elsewhere, or answers with an error.',
    next: ['download them yourself and give `--keys` the file'],
  },
  'profile-unknown': {
    what: 'There is no sandbox profile of that name.',
    why: 'It is misspelled, or belongs to another version.',
    next: ['see what there is: `grokbot config show`'],
  },
  'sandbox-exec-refused': {
    what: 'The sandbox ran nothing.',
    why: 'This machine can not give what the profile asks for, and nothing is ever run without a sandbox instead.',
    next: ['see what is missing: `grokbot doctor`'],
  },
  'payload-invalid': {
    what: 'The file is not the body of a webhook.',
    why: 'It is no JSON object, or lacks what GitHub sends.',
    next: ['give the body of a webhook, as GitHub shows it under Recent Deliveries'],
  },
  'server-unreachable': {
    what: 'The server that was to be sent to can not be reached.',
    why: 'Nothing listens there, or the address is another one.',
    next: ['start it: `grokbot serve`, or `grokbot app`'],
  },
  'redis-server-missing': {
    what: '`redis-server` can not be started.',
    why: 'It is not installed; only the distributed demo starts one of its own.',
    next: ['on Debian and Ubuntu: `apt-get install redis-server`'],
  },
  'git-missing': {
    what: 'git is not installed.',
    why: 'It is not in the `PATH` of this process.',
    next: ['install it: `apt-get install git`'],
  },
  'repository-missing': {
    what: 'The folder is not the work tree of a git repository.',
    why: 'Another folder was meant, or nothing was committed there yet.',
    next: ['name one: `--repo DIR`', 'make one: `git init && git add -A && git commit`'],
  },
  'repository-empty': {
    what: 'The repository has no commit yet, so there is nothing to start from.',
    why: 'Work starts from a commit, never from files that are not committed.',
    next: ['make one: `git add -A && git commit`'],
  },
  'commit-unknown': {
    what: 'There is no such commit in the repository.',
    why: 'The name of a branch, a tag or a commit is misspelled, or was not fetched.',
    next: ['see what there is: `git branch -a`, `git tag`'],
  },
  'commit-nameless': {
    what: 'The commit is on no branch, so it can not be fetched.',
    why: 'Git hands out what a branch or a tag leads to.',
    next: ['give it a name: `git branch NAME`'],
  },
  'repository-unusable': {
    what: 'The repository can not be used.',
    why: 'Its format is one this version does not read, or something of it is damaged.',
    next: ['see what git says of it: `git status`, `git fsck`'],
  },
  'command-missing': {
    what: 'There is no command to run.',
    why: '`grokbot run` was given no words.',
    next: ['for example: `grokbot run "/grok fix the failing test"`'],
  },
  'command-unreadable': {
    what: 'The words are not a command.',
    why: 'A command begins with the prefix, as in a comment.',
    next: ['for example: `grokbot run "/grok fix the failing test"`'],
  },
  'one-command': {
    what: '`grokbot run` takes one command at a time.',
    why: 'Each run has one result.',
    next: ['start it once for each'],
  },
  'nothing-to-do': {
    what: 'The command says to do something and not what.',
    why: 'There are no words behind it and no file with an issue.',
    next: ['say what: `grokbot run "/grok fix the failing test"`, or `--issue FILE`'],
  },
  'comment-only': {
    what: 'The command belongs into a comment.',
    why: 'It is about a conversation on GitHub, which a run on this machine does not have.',
    next: ['see what there is: `grokbot --help`'],
  },
  'issue-empty': {
    what: 'The file of `--issue` is empty.',
    why: 'Its first line is the title, the rest the text.',
    next: ['write the title as its first line'],
  },
} as const satisfies Record<string, ProblemRow>
