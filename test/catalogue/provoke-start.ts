import { EventEmitter, once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { Command } from 'commander'
import { allowedOwners, appSettings, redisUrl } from '../../cli/app-settings.ts'
import { initConfig } from '../../cli/config/init.ts'
import { makeDataFolder } from '../../cli/data-folder.ts'
import { listenAt } from '../../cli/door.ts'
import { installationSigner } from '../../cli/keys.ts'
import { startOwnRedis } from '../../cli/own-redis.ts'
import { usable } from '../../cli/program.ts'
import { readKeys } from '../../cli/read-keys.ts'
import { readOperator } from '../../cli/read-operator.ts'
import { requiredModel } from '../../cli/required-model.ts'
import { readLocalRepository, sayNoGit } from '../../cli/run/local-repository.ts'
import { readScript } from '../../cli/run/model.ts'
import { claimAgain, openRunPlace } from '../../cli/run/open-run.ts'
import { decideRun, readCommand, readIssue } from '../../cli/run/order.ts'
import { execInSandbox } from '../../cli/sandbox/exec.ts'
import { errorWords } from '../../cli/say-error.ts'
import { readPayload } from '../../cli/simulate/read-payload.ts'
import { subCommands } from '../../cli/sub-commands.ts'
import { requireTenantsApart } from '../../cli/tenants.ts'
import { defaultLimits, type Environment, type OperatorConfig, readEnvironment } from '../../config-schema/index.ts'
import type { startProblems } from '../../domain/catalogue/start.ts'
import { runGit } from '../../git/run-git.ts'
import { holdOwnerLock, openSqliteLedger } from '../../ledger/index.ts'
import { grokbot } from '../cli/scene.ts'
import { makeRepository, sh } from '../git/scene.ts'
import { claimOptions, payloads, startedAt, taskOf } from '../ledger/samples.ts'
import type { Place, Provocations, Provoked } from './provocation.ts'

const settings = (sandbox?: OperatorConfig['sandbox']) => ({
  limits: defaultLimits(),
  operator: { version: 1 as const, ...(sandbox ? { sandbox } : {}) },
  prefix: '/grok',
})

/** What is thrown, as `main` says it. */
async function thrown(call: () => unknown): Promise<Provoked> {
  try {
    await call()
  } catch (error) {
    const { code, text } = errorWords(error, false)
    return { code, words: text }
  }
  return { code: undefined, words: '' }
}

/** A sub-command, called in this process. */
async function called(name: string, argv: readonly string[], environment: Partial<Environment> = {}): Promise<Provoked> {
  const command = new Command(name).exitOverride()
  const { define } = (await subCommands.find(each => each.name === name)?.load()) ?? { define: () => undefined }
  define(command, environment as Environment)
  return await thrown(() => command.parseAsync([...argv], { from: 'user' }))
}

function write({ folder }: Place, name: string, content: string): string {
  const file = path.join(folder, name)
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, content)
  return file
}

/** As the user of that id, whoever runs the tests. */
async function asUser(uid: number, call: () => Promise<Provoked>): Promise<Provoked> {
  const real = process.getuid
  process.getuid = () => uid
  try {
    return await call()
  } finally {
    process.getuid = real as () => number
  }
}

async function withoutPrograms(call: () => Promise<Provoked>): Promise<Provoked> {
  const { PATH } = process.env
  process.env['PATH'] = '/nowhere'
  try {
    return await call()
  } finally {
    process.env['PATH'] = PATH
  }
}

/** A server of this machine that knows nothing, for as long as the call takes. */
async function withServer(call: (port: number) => Promise<Provoked>): Promise<Provoked> {
  const server = createServer((_, response) => response.writeHead(404).end()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    return await call((server.address() as AddressInfo).port)
  } finally {
    server.close()
    await once(server, 'close')
  }
}

/** A data folder with one task, which `becomes` something first. */
async function withTask({ folder }: Place, becomes: 'waiting' | 'running' | 'erased', call: (dataDir: string) => Promise<Provoked>) {
  const dataDir = path.join(folder, `task-${becomes}`)
  const ledger = openSqliteLedger({ dataDir, durability: 'process', clock: () => startedAt })
  await ledger.acceptTask(taskOf('T1'))
  const claim = claimOptions({ leaseUntil: Number.MAX_SAFE_INTEGER })
  if (becomes !== 'waiting') await ledger.claimTask('T1', claim)
  if (becomes === 'erased') {
    const end = { type: 'task.ended', commandId: 'end', payload: payloads['task.ended'] } as const
    await ledger.append({ taskId: 'T1', attempt: 1, actor: 'w', at: startedAt, expectedSeq: 1, events: [end] })
    await ledger.eraseTask('T1', 'uid 0')
  }
  await ledger.close()
  const lock = holdOwnerLock(dataDir, claim.owner)
  try {
    return await call(dataDir)
  } finally {
    lock.release()
  }
}

/** What goes on with that task, as `run --resume` does. */
async function resumed(dataDir: string): Promise<Provoked> {
  const place = openRunPlace(dataDir, { markerKey: new Uint8Array(32), signer: null as never })
  try {
    return await thrown(() => claimAgain(place, 'T1', settings()))
  } finally {
    await place.close()
  }
}

/** As root no port is forbidden, so what a server says to other users is said by one of ours. */
function forbiddenServer(): Parameters<typeof listenAt>[0] {
  const server = new EventEmitter() as EventEmitter & { listen(): void }
  server.listen = () => setImmediate(() => server.emit('error', Object.assign(new Error('listen EACCES'), { code: 'EACCES' })))
  return server as never
}

export const startProvocations: Provocations<keyof typeof startProblems> = {
  broken: () => thrown(() => Promise.reject(new Error('disk I/O error'))),
  'command-line': async () => {
    const { stderr } = await grokbot(['nope'])
    return { code: /\[([a-z-]+)\]$/m.exec(stderr)?.[1], words: stderr }
  },
  'option-value': () => called('runs', ['list', '--limit', '0']),
  'options-clash': () => called('stop', []),
  'unknown-code': () => called('explain', ['no-such-thing']),
  'file-missing': ({ folder }) => called('config', ['check', path.join(folder, 'nowhere.yml')]),
  'file-too-large': place => thrown(() => readIssue(write(place, 'long.md', 'x'.repeat(1_048_577)))),
  'file-unreadable': () => thrown(() => appSettings({ PRIVATE_KEY_PATH: `/${'n'.repeat(300)}` } as Environment)),
  'folder-missing': ({ folder }) => called('config', ['init', '--repo', path.join(folder, 'nowhere')]),
  'file-exists': place => {
    write(place, 'begun/.github/grok.yml', '')
    return thrown(() => initConfig({ repo: path.join(place.folder, 'begun') }, {} as Environment))
  },
  'file-unwritable': place => {
    const environment = { GROKBOT_CONFIG: path.join(write(place, 'no-folder', ''), 'operator.yml') } as Environment
    return thrown(() => initConfig({ repo: '.', operator: true, data: path.join(place.folder, 'data') }, environment))
  },
  'data-folder-unusable': place => thrown(() => makeDataFolder(path.join(write(place, 'a-file', ''), 'data'))),
  'data-folder-closed': ({ folder }) => {
    const closed = path.join(folder, 'closed')
    mkdirSync(closed, { mode: 0o700 })
    return asUser(0, () => thrown(() => makeDataFolder(path.join(closed, 'data'))))
  },
  'ledger-missing': ({ folder }) => called('runs', ['list', '--data', folder]),
  'task-unknown': place => withTask(place, 'waiting', data => called('runs', ['show', 'T2', '--data', data])),
  'task-erased': place => withTask(place, 'erased', resumed),
  'task-busy': place => withTask(place, 'running', resumed),
  'task-open': place => withTask(place, 'waiting', data => called('data', ['erase', 'T1', '--data', data])),
  'environment-invalid': () => thrown(() => usable(readEnvironment({ PORT: 'many' }))),
  'app-not-configured': () => thrown(() => appSettings({} as Environment)),
  'app-key-invalid': () => thrown(() => appSettings({ APP_ID: '1', WEBHOOK_SECRET: 's', PRIVATE_KEY: 'cut' } as Environment)),
  'owners-empty': () => thrown(() => allowedOwners({ ALLOWED_OWNERS: ' , ' } as Environment)),
  'owners-unset': () => thrown(() => allowedOwners({ NODE_ENV: 'production' } as Environment)),
  'redis-unset': () => thrown(() => redisUrl({} as Environment)),
  'webhook-secret-unset': place => called('deliver', [write(place, 'body.json', '{}'), '--event', 'issues', '--url', 'http://127.0.0.1:9']),
  'worker-holds-secrets': ({ folder }) => called('worker', ['--data', path.join(folder, 'data')], { WEBHOOK_SECRET: 'secret' }),
  'port-in-use': () => withServer(port => thrown(() => listenAt(createServer(), { host: '127.0.0.1', port }))),
  'port-forbidden': () => thrown(() => listenAt(forbiddenServer(), { host: '127.0.0.1', port: 80 })),
  // An address kept for documentation: no machine has it.
  'address-unknown': () => thrown(() => listenAt(createServer(), { host: '203.0.113.1', port: 0 })),
  'model-unset': () => thrown(() => requiredModel({} as Environment)),
  'model-script-invalid': place => thrown(() => readScript(write(place, 'script.json', '{}'))),
  'operator-file-missing': ({ folder }) => thrown(() => readOperator({ GROKBOT_CONFIG: '/nowhere.yml' } as Environment, folder)),
  'operator-file-invalid': place => {
    const GROKBOT_CONFIG = write(place, 'operator.yml', 'version: 2\n')
    return thrown(() => readOperator({ GROKBOT_CONFIG } as Environment, place.folder))
  },
  'tenants-profile': () => thrown(() => requireTenantsApart(settings({ profile: 'devbox', singleUidTenants: true }), null)),
  'tenants-one-user': () => asUser(1_000, () => thrown(() => requireTenantsApart(settings(), null))),
  'signing-key-invalid': ({ folder }) => {
    const environment = { GROKBOT_SIGNING_KEY: 'bad' } as Environment
    return thrown(() => installationSigner(path.join(folder, 'data'), environment, settings()))
  },
  'public-key-missing': place => thrown(() => readKeys(write(place, 'key.pem', 'none'))),
  'keys-over-http': () => thrown(() => readKeys('http://keys.example/key.pem')),
  'keys-unreachable': () => withServer(port => thrown(() => readKeys(`http://127.0.0.1:${port}/key.pem`))),
  'profile-unknown': () => called('sandbox', ['show', 'nope']),
  // Of a command that no program can be started with, in a profile that needs nothing of the machine.
  'sandbox-exec-refused': place => {
    const operator = write(place, 'bare.yml', 'version: 1\nsandbox: { policy: prefer }\n')
    return thrown(() => execInSandbox(['true\0'], { profile: 'off', wall: '9', json: true }, { GROKBOT_CONFIG: operator } as Environment))
  },
  'payload-invalid': place => thrown(() => readPayload(write(place, 'list.json', '[]'), place.folder)),
  'server-unreachable': place => {
    const argv = [write(place, 'body.json', '{}'), '--event', 'issues', '--url', 'http://127.0.0.1:9']
    return called('deliver', argv, { WEBHOOK_SECRET: 'secret' })
  },
  'redis-server-missing': ({ folder }) => withoutPrograms(() => thrown(() => startOwnRedis(folder))),
  // The host's search path is fixed: a program in front of git that is not there fails as git itself would.
  'git-missing': () => thrown(() => runGit({ argv: ['version'], launcher: ['/nowhere/git'], wallMs: 9_000 }).catch(sayNoGit)),
  'repository-missing': ({ folder }) => thrown(() => readLocalRepository(folder, null)),
  'repository-empty': ({ folder }) => {
    sh(folder, 'git init -q unborn')
    return thrown(() => readLocalRepository(path.join(folder, 'unborn'), null))
  },
  'commit-unknown': ({ folder }) => {
    mkdirSync(path.join(folder, 'known'))
    return thrown(() => readLocalRepository(makeRepository(path.join(folder, 'known'), { 'a.txt': 'a' }), 'nope'))
  },
  'commit-nameless': ({ folder }) => {
    mkdirSync(path.join(folder, 'nameless'))
    const project = makeRepository(path.join(folder, 'nameless'), { 'a.txt': 'a' })
    sh(project, 'git checkout -q --detach && git commit -q --allow-empty -m apart')
    return thrown(() => readLocalRepository(project, 'HEAD'))
  },
  'repository-unusable': ({ folder }) => {
    sh(folder, 'git init -q --object-format=sha256 long && cd long && git commit -q --allow-empty -m first')
    return thrown(() => readLocalRepository(path.join(folder, 'long'), null))
  },
  'command-missing': () => thrown(() => readCommand([], settings())),
  'command-unreadable': () => thrown(() => readCommand(['fix', 'it'], settings())),
  'one-command': () => thrown(() => readCommand(['/grok fix a\n\n/grok fix b'], settings())),
  'nothing-to-do': ({ folder }) => called('run', ['/grok fix', '--data', path.join(folder, 'data')]),
  'comment-only': () => thrown(() => decideRun({ index: 0, word: 'cancel', text: '' }, '/grok', 'on')),
  'issue-empty': place => thrown(() => readIssue(write(place, 'blank.md', '\n\n'))),
}
