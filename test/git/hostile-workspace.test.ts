import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdtempSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commitTree, diffTrees, planTree, pushCommit, type Workspace } from '../../git/index.ts'
import {
  asAgent,
  listNames,
  openSharedScene,
  personEnv,
  plainGit,
  readTree,
  runPlan,
  type Scene,
  takeTree,
  workspaceOf,
  writeFiles,
} from './scene.ts'

/**
 * What an agent can leave in its workspace so that the next git command on the host runs a program of its choice, or so
 * that an edit is hidden. Every recipe edits `src/add.js` as well. For each: the product's way makes a tree that has the
 * edit and nothing runs on the host; the naive way (git on the host, in the agent's repository) shows that the recipe is
 * a real one: it runs the program, or it hides the edit.
 *
 * `$TRIP` is a folder of the host that sandboxes do not see: a file in it means that something ran outside.
 */
const edit = 'echo "export const add = (a, b) => a + b" > src/add.js'
const edited = 'export const add = (a, b) => a + b\n'

type Recipe = {
  name: string
  script: string
  /** How the naive host falls: a program ran, the edit was hidden, or its own metadata were written where the agent says. */
  naive: 'runs' | 'hides' | 'leaks' | 'breaks'
  naiveCommand?: string[]
  /** More that must be in the tree. */
  also?: Record<string, string>
  gitlinks?: string[]
}

const recipes: Recipe[] = [
  {
    name: 'a clean filter that .gitattributes names',
    script: 'git config filter.evil.clean "sh -c \'touch $TRIP/clean; cat\'"; echo "*.js filter=evil" > .gitattributes; TOUCH',
    naive: 'runs',
    also: { '100644 .gitattributes': '*.js filter=evil\n' },
  },
  {
    name: 'a long-running filter process',
    script: 'git config filter.evil.process "sh -c \'touch $TRIP/process\'"; echo "*.js filter=evil" > .gitattributes; TOUCH',
    naive: 'runs',
    also: { '100644 .gitattributes': '*.js filter=evil\n' },
  },
  {
    name: 'a smudge filter for the next checkout',
    script: 'git config filter.evil.smudge "sh -c \'touch $TRIP/smudge; cat\'"; echo "*.js filter=evil" > .gitattributes',
    naive: 'runs',
    naiveCommand: ['checkout', '-f', 'HEAD', '--', 'src/keep.js', 'src/add.js'],
  },
  {
    name: 'an external diff',
    script: 'git config diff.external "sh -c \'touch $TRIP/diff\'"',
    naive: 'runs',
    naiveCommand: ['diff'],
  },
  {
    name: 'a textconv of a diff driver',
    script: 'git config diff.evil.textconv "touch $TRIP/textconv; cat"; echo "*.js diff=evil" > .gitattributes',
    naive: 'runs',
    naiveCommand: ['diff'],
  },
  {
    name: 'a file system monitor',
    script: 'git config core.fsmonitor "touch $TRIP/fsmonitor; false"',
    naive: 'runs',
    naiveCommand: ['status'],
  },
  {
    name: 'hooks behind core.hooksPath',
    script:
      'mkdir hooks; printf "#!/bin/sh\\ntouch $TRIP/hook\\n" > hooks/pre-commit; chmod +x hooks/pre-commit; git config core.hooksPath hooks',
    naive: 'runs',
    naiveCommand: ['commit', '-a', '-m', 'x'],
  },
  {
    name: 'hooks in the gitdir',
    script:
      'mkdir -p .git/hooks; printf "#!/bin/sh\\ntouch $TRIP/hook\\n" > .git/hooks/post-index-change; chmod +x .git/hooks/post-index-change',
    naive: 'runs',
  },
  {
    name: 'a configuration included from the work tree',
    script:
      'printf "[core]\\n\\tfsmonitor = \\"touch $TRIP/include; false\\"\\n" > inc; git config include.path "$PWD/inc"; git config --add include.path ../inc',
    naive: 'runs',
    naiveCommand: ['status'],
  },
  {
    name: 'a push redirected by url.insteadOf to a transport that runs a program',
    script:
      'git config "url.ext::sh -c touch% $TRIP/ext #.insteadOf" https://github.example/; git config protocol.ext.allow always; git remote add origin https://github.example/a/b',
    naive: 'runs',
    naiveCommand: ['push', 'origin', 'HEAD:refs/heads/x'],
  },
  {
    name: 'an ssh command of its own',
    script: 'git config core.sshCommand "touch $TRIP/ssh; false"; git remote add origin ssh://github.example/a/b',
    naive: 'runs',
    naiveCommand: ['push', 'origin', 'HEAD:refs/heads/x'],
  },
  {
    name: 'a credential helper of its own',
    script: 'git config credential.helper "!touch $TRIP/credential; false"',
    naive: 'runs',
    naiveCommand: ['credential', 'fill'],
  },
  {
    name: 'a work tree elsewhere',
    script: 'mkdir /tmp/other; git config core.worktree /nonexistent/other',
    naive: 'breaks',
    naiveCommand: ['status'],
  },
  { name: 'an edit marked assume-unchanged', script: 'git update-index --assume-unchanged src/add.js', naive: 'hides' },
  { name: 'an edit marked skip-worktree', script: 'git update-index --skip-worktree src/add.js', naive: 'hides' },
  {
    name: 'an edit of the same size with its old time',
    script:
      'touch -r src/add.js /tmp/ref; printf "export const add = (a, b) => a + b\\n" > src/add.js; touch -r /tmp/ref src/add.js; touch -d "+5 seconds" .git/index; git config core.trustctime false; git config core.checkStat minimal',
    naive: 'hides',
  },
  {
    name: 'an index that says the edit is the base',
    script:
      'git config core.trustctime false; git config core.checkStat minimal; git update-index --cacheinfo 100644,$(git rev-parse HEAD:src/add.js),src/add.js; git update-index --assume-unchanged src/add.js',
    naive: 'hides',
  },
  {
    name: 'new files hidden by info/exclude',
    script:
      'mkdir -p .git/info; echo hidden.js > .git/info/exclude; echo hidden > hidden.js; git update-index --assume-unchanged src/add.js',
    naive: 'hides',
    also: { '100644 hidden.js': 'hidden\n' },
  },
  {
    name: 'new files hidden by core.excludesFile',
    script:
      'echo hidden.js > .git/x; git config core.excludesFile "$PWD/.git/x"; echo hidden > hidden.js; git update-index --assume-unchanged src/add.js',
    naive: 'hides',
    also: { '100644 hidden.js': 'hidden\n' },
  },
  {
    name: 'files hidden by an ignore file of the agent home',
    script:
      'mkdir -p ~/.config/git; echo hidden.js > ~/.config/git/ignore; echo hidden > hidden.js; git update-index --assume-unchanged src/add.js',
    naive: 'hides',
    also: { '100644 hidden.js': 'hidden\n' },
  },
  {
    name: 'attributes of its gitdir that turn line ends',
    script:
      'mkdir -p .git/info; echo "* text eol=crlf" > .git/info/attributes; printf "a\\r\\nb\\r\\n" > crlf.txt; git update-index --assume-unchanged src/add.js',
    naive: 'hides',
    also: { '100644 crlf.txt': 'a\r\nb\r\n' },
  },
  {
    name: 'a sparse checkout',
    script:
      'git config core.sparseCheckout true; mkdir -p .git/info; echo /README.md > .git/info/sparse-checkout; git update-index --skip-worktree src/add.js',
    naive: 'hides',
  },
  {
    name: 'a replaced object',
    script:
      'git replace $(git rev-parse HEAD:src/keep.js) $(git hash-object -w src/add.js); git update-index --assume-unchanged src/add.js',
    naive: 'hides',
  },
  {
    name: 'alternates that point to another repository of the host',
    script:
      'echo $FOREIGN > .git/objects/info/alternates; git update-index --add --cacheinfo 100644,$SECRET,stolen; git update-index --skip-worktree stolen',
    naive: 'leaks',
  },
  { name: 'a gitdir that is deleted', script: 'rm -rf .git/* || true', naive: 'breaks' },
  {
    name: 'a nested repository with a filter',
    script:
      'mkdir nested; cd nested; git init -q .; echo a > a.js; git add a.js; git -c user.name=x -c user.email=x commit -qm x; git config filter.evil.clean "sh -c \'touch $TRIP/nested; cat\'"; echo "* filter=evil" > .gitattributes; echo b > a.js; touch a.js; cd ..; git add nested; echo c > nested/a.js',
    naive: 'runs',
    gitlinks: ['nested'],
  },
  {
    name: 'a nested repository with a file system monitor where a folder of the base was',
    script:
      'cd src; git init -q .; git add .; git -c user.name=x -c user.email=x commit -qm x; git config core.fsmonitor "touch $TRIP/nested; false"; cd ..; rm -f src/keep.js; git rm -rq --cached src; git add src; touch src/add.js',
    naive: 'runs',
  },
  {
    name: 'a submodule whose update runs a command',
    script:
      'mkdir sub; cd sub; git init -q .; git -c user.name=x -c user.email=x commit -q --allow-empty -m x; cd ..; git config submodule.sub.url ./sub; git config submodule.sub.update "!touch $TRIP/sub; true"; printf "[submodule \\"sub\\"]\\n\\tpath = sub\\n\\turl = ./sub\\n" > .gitmodules; git add sub .gitmodules',
    naive: 'runs',
    naiveCommand: ['submodule', 'update', '--force'],
    gitlinks: ['sub'],
  },
]

let scene: Scene
let foreign: { objects: string; secret: string }
let end: (() => void) | undefined

beforeAll(async () => {
  const opened = await openSharedScene()
  scene = opened.scene
  end = opened.end
  const path = join(scene.folder, 'foreign')
  plainGit('/', 'init', '-q', path)
  writeFiles(path, { secret: 'the other tenant’s secret\n' })
  foreign = { objects: join(path, '.git', 'objects'), secret: plainGit(path, 'hash-object', '-w', 'secret') }
})
afterAll(() => end?.())

async function play(recipe: Recipe): Promise<{ workspace: Workspace; trip: string }> {
  const trip = mkdtempSync(join(scene.folder, 'trip-'))
  chmodSync(trip, 0o777)
  const workspace = await workspaceOf(scene)
  const names: Record<string, string> = { $TRIP: trip, $FOREIGN: foreign.objects, $SECRET: foreign.secret, TOUCH: 'touch src/add.js' }
  const script = Object.entries(names).reduce((text, [name, value]) => text.replaceAll(name, value), recipe.script)
  asAgent(scene, workspace, `export HOME=/tmp; ${recipe.name.includes('of the same size') ? script : `${edit}; ${script}`}`)
  return { workspace, trip }
}

test.each(recipes)('$name: the tree has the edit and nothing ran on the host, where a naive host falls', async recipe => {
  const { workspace, trip } = await play(recipe)
  // The tree sandbox is shown the trip folder: not even inside does anything of the agent's run.
  const adopted = await takeTree(scene, workspace, { kind: 'all' }, [{ source: trip, target: trip, mode: 'rw' }])
  if (adopted.kind !== 'adopted') throw new Error(`${adopted.path}: ${adopted.reason}`)
  const tree = readTree(scene, adopted.tree)
  expect(tree).toMatchObject({ '100644 src/add.js': edited, ...recipe.also })
  expect(Object.keys(tree)).not.toContain('100644 stolen')
  expect(adopted.gitlinksLeftOut).toEqual(recipe.gitlinks ?? [])
  const { files } = await diffTrees(scene.store, scene.baseTree, adopted.tree)
  expect(files.map(file => file.path)).toContain('src/add.js')
  expect(listNames(trip)).toEqual([])

  // The control switched off: the recipe is a real one.
  const naive = naiveHost(workspace, recipe.naiveCommand ?? ['add', '-A'])
  const facts = {
    runs: listNames(trip).length > 0,
    hides:
      naive.tree !== null &&
      Object.entries({ '100644 src/add.js': edited, ...recipe.also }).some(([path, text]) => naive.tree?.[path] !== text),
    leaks: naive.tree?.['100644 stolen'] === 'the other tenant’s secret\n',
    breaks: naive.status !== 0 && naive.tree === null,
  }
  expect(facts).toMatchObject({ [recipe.naive]: true })
  await workspace.remove()
})

test('with every recipe’s settings at once, diff, commit and push run nothing on the host either', async () => {
  const settings = recipes.filter(recipe => recipe.script.startsWith('git config')).map(recipe => `( ${recipe.script} ) || true`)
  const { workspace, trip } = await play({ name: 'all', script: settings.join('; '), naive: 'runs' })
  const adopted = await takeTree(scene, workspace)
  if (adopted.kind !== 'adopted') throw new Error(adopted.reason)
  await diffTrees(scene.store, scene.baseTree, adopted.tree)
  const author = { name: 'bot', email: 'bot@example.org' }
  const sha = await commitTree({ store: scene.store, tree: adopted.tree, parents: [scene.base], message: 'x', author, at: 0 })
  const remote = join(scene.folder, 'remote.git')
  plainGit('/', 'init', '-q', '--bare', remote)
  expect(await pushCommit({ store: scene.store, url: remote, sha, ref: 'refs/heads/x', expect: null })).toEqual({
    kind: 'pushed',
    remoteSha: sha,
  })
  await workspace.remove()
  expect(listNames(trip)).toEqual([])
})

/** Copies the work tree with the agent's gitdir as `.git`, as a host would have it that shares one repository with the agent. */
function naiveHost(workspace: Workspace, command: string[]): { status: number | null; tree: Record<string, string> | null } {
  const place = join(scene.folder, 'naive')
  rmSync(place, { recursive: true, force: true })
  cpSync(workspace.path, place, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
  rmSync(join(place, '.git'), { recursive: true })
  cpSync(workspace.agentGitDir, join(place, '.git'), { recursive: true, preserveTimestamps: true })
  const env = {
    ...personEnv,
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'safe.directory',
    GIT_CONFIG_VALUE_0: '*',
    GIT_ALTERNATE_OBJECT_DIRECTORIES: scene.mirror.objects,
    GIT_TERMINAL_PROMPT: '0',
  }
  const run = (argv: string[]) =>
    spawnSync('git', argv, { cwd: place, env, encoding: 'utf8', input: 'protocol=https\nhost=github.example\n\n', timeout: 20_000 })
  const { status } = run(command)
  run(['add', '-A'])
  const written = run(['write-tree'])
  if (written.status !== 0) return { status, tree: null }
  const listed = run(['ls-tree', '-r', written.stdout.trim()]).stdout.trim().split('\n')
  const rows = listed.map(line => line.split(/[ \t]/) as [string, string, string, string])
  return { status, tree: Object.fromEntries(rows.map(([mode, , sha, path]) => [`${mode} ${path}`, run(['cat-file', 'blob', sha]).stdout])) }
}

test('the plan mounts the work tree read-only and nothing of the agent’s gitdir', async () => {
  const workspace = await workspaceOf(scene)
  const plan = planTree({ workspace, store: scene.store, selection: { kind: 'all' }, workDir: join(scene.folder, 'run') })
  expect(plan.workspace).toEqual({ source: workspace.path, mode: 'ro' })
  expect(plan.mounts.filter(mount => mount.mode === 'rw').map(mount => mount.source)).toEqual([dirname(plan.quarantine)])
  expect(plan.mounts.filter(mount => mount.source.startsWith(workspace.agentGitDir))).toEqual([])
  expect(listNames(join(workspace.path, '.git'))).toEqual([])
  expect(runPlan(scene, plan)).toMatchObject({ status: 0, stdout: `${scene.baseTree}\n`, stderr: '' })
})

test('the agent can not move its gitdir away, and a .git of its own below the root changes nothing', async () => {
  const workspace = await workspaceOf(scene)
  expect(() => asAgent(scene, workspace, 'mv .git old')).toThrow('busy')
  asAgent(scene, workspace, `${edit}; mkdir src/.git; echo "gitdir: /tmp/x" > src/.git/config; echo new > src/new.js`)
  const adopted = await takeTree(scene, workspace)
  if (adopted.kind !== 'adopted') throw new Error(adopted.reason)
  expect(readTree(scene, adopted.tree)).toMatchObject({ '100644 src/add.js': edited, '100644 src/new.js': 'new\n' })
})

test('Q84: commits, other branches and an empty index of the agent change nothing in the tree', async () => {
  const workspace = await workspaceOf(scene)
  asAgent(
    scene,
    workspace,
    `${edit}; git commit -qam one; git checkout -q -b other; echo two > two; git add two; git commit -qm two; rm .git/index`,
  )
  const adopted = await takeTree(scene, workspace)
  if (adopted.kind !== 'adopted') throw new Error(adopted.reason)
  expect(readTree(scene, adopted.tree)).toMatchObject({ '100644 src/add.js': edited, '100644 two': 'two\n' })
})
