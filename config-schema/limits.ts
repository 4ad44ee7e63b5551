/**
 * Every limit of the product: name with its unit, default, why. The operator sets any of them under `limits:`;
 * `docs/limits.md` is made from this table. A repository's file can only lower the ones marked `repository`.
 */
export const limitTable = {
  deliveryBytesMax: { default: 26_214_400, why: 'GitHub sends at most 25 MiB a delivery' },
  deliveryDrainMs: { default: 200, why: 'pause between looks for stored deliveries that nothing announced' },
  deliveryKeepMs: { default: 604_800_000, why: 'how long the body of a settled delivery is kept' },
  deliveriesSweepMs: { default: 300_000, why: 'pause between looks for deliveries that GitHub could not bring' },
  deliveriesLookBackMs: { default: 259_200_000, why: 'how old those may be: GitHub forgets a delivery after three days' },
  livenessWindowMs: {
    default: 120_000,
    why: 'a process that has looked at nothing for so long is not alive: more than all requests of one delivery may take',
  },
  commandsPerCommentMax: { default: 3, why: 'more commands in one comment are dropped and said so' },
  commandTextBytesMax: { default: 16_384, why: 'the words behind a command' },
  subjectBytesMax: { default: 262_144, why: 'the body of an issue as kept with a task; what is more is cut, and said so' },
  leaseMs: { default: 15_000, why: 'how long an attempt lives without renewal: covers a lost machine and a stopped process' },
  sweepMs: { default: 10_000, why: 'pause between sweeps of tasks, effects and outcomes' },
  livenessMs: { default: 300, why: 'pause between looks for workers whose kernel lock is gone' },
  readBackGapMs: { default: 5_000, why: 'an effect counts as absent only if it was not listed twice, this far apart' },
  recoveriesMax: { default: 5, why: 'a task that killed its worker this often ends as errored' },
  taskWaitMs: { default: 86_400_000, why: 'how long an accepted task may wait for a worker' },
  taskWallMs: { default: 1_200_000, why: 'one task from its first claim to its outcome', repository: true },
  turnsMax: { default: 60, why: 'model answers in one session', repository: true },
  tokensMax: { default: 4_000_000, why: 'input and output tokens of one task', repository: true },
  costMicroUsdMax: { default: 0, why: 'money for one task in millionths of a dollar; 0 = no cap of its own', repository: true },
  repositoryDayMicroUsdMax: {
    default: 0,
    why: 'money for all tasks of one repository on one UTC day, in millionths of a dollar; 0 = no cap',
  },
  actorDayMicroUsdMax: { default: 0, why: 'the same for all tasks one person asks for' },
  modelTriesMax: { default: 6, why: 'requests for one model answer' },
  modelConnectMs: { default: 10_000, why: 'until the model endpoint has taken the connection' },
  modelIdleMs: { default: 120_000, why: 'silence of a model stream before it is given up' },
  modelTotalMs: { default: 600_000, why: 'one model answer from first try to last byte' },
  commandWallMs: { default: 120_000, why: 'one command of the model that names no time' },
  commandWallMsMax: { default: 300_000, why: 'the longest time a command of the model may ask for' },
  commandCpuSecondsMax: { default: 600, why: 'processor time of one process of a command' },
  commandMemoryBytesMax: { default: 4_294_967_296, why: 'memory of one command with all its processes' },
  commandProcessesMax: { default: 512, why: 'processes and threads of one command' },
  commandFileBytesMax: { default: 2_147_483_648, why: 'one file that a command writes' },
  commandDiskBytesMax: { default: 8_589_934_592, why: 'all that one command writes to disk' },
  sessionTmpBytesMax: { default: 1_073_741_824, why: '/tmp of one session, which lives in memory' },
  setupSentBytesMax: { default: 67_108_864, why: 'what setup may send through the proxy' },
  setupReceivedBytesMax: { default: 8_589_934_592, why: 'what setup may fetch through the proxy' },
  checkWallMs: { default: 600_000, why: 'one check in one cell', repository: true },
  setupWallMs: { default: 600_000, why: 'all setup commands together', repository: true },
  gitWallMs: { default: 300_000, why: 'one git process of the host, and git on a work tree in its sandbox' },
  cancelGraceMs: { default: 5_000, why: 'from a stop to the end of the session, whatever it is doing; its tools get a fifth of it' },
  progressGapMs: { default: 15_000, why: 'pause between edits of one progress comment' },
  progressAfterMs: { default: 20_000, why: 'runs shorter than this have no progress comment' },
  outageTriesMax: { default: 8, why: 'tries of one request while GitHub is away, before the task ends as errored' },
  outageWaitMs: { default: 1_000, why: 'first wait of those; it doubles, up to a minute' },
  githubTimeoutMs: { default: 10_000, why: 'one request to the GitHub API' },
  retryWaitMs: { default: 1_000, why: 'first wait of a delivery or effect that could not be done; it doubles' },
  retryWaitMsMax: { default: 600_000, why: 'the longest of those waits' },
  rateLimitWaitMsMax: { default: 3_600_000, why: 'how long GitHub may ask to be left alone; its own window is an hour' },
  writeGapMs: { default: 1_000, why: 'between two writes to GitHub for one installation, which it asks for; in one process' },
  contentPerMinuteMax: {
    default: 80,
    why: 'comments, reviews and pull requests of one installation in a minute; GitHub limits whoever makes more',
  },
  contentPerHourMax: { default: 500, why: 'the same in an hour' },
  effectGiveUpMs: { default: 86_400_000, why: 'what could not be done for so long is not done any more' },
  refusalQuietMs: { default: 86_400_000, why: 'the same refusal of the same person in the same thread is said once, then a reaction' },
  botRunsPerHourMax: { default: 2, why: 'runs that bots may start in one thread within an hour: two that answer each other stop' },
  storeKeepMs: { default: 1_209_600_000, why: 'how long the trees and the commit of an ended task are kept' },
  linkKeepMs: { default: 7_776_000_000, why: 'how long the link to the page of a task opens it' },
  bodyCharactersMax: { default: 58_000, why: 'comments and bodies are cut at a block before GitHub would refuse them' },
  sandboxPoolSize: { default: 2, why: 'command sandboxes started ahead in one session' },
  workerSlots: { default: 1, why: 'tasks one process works on at the same time' },
  treeFileBytesMax: { default: 52_428_800, why: 'one file of a change' },
  treePackBytesMax: { default: 268_435_456, why: 'all objects of one tree that came out of a sandbox' },
  treeFilesMax: { default: 400_000, why: 'entries of one tree' },
} as const satisfies Record<string, { default: number; why: string; repository?: true }>

export type LimitName = keyof typeof limitTable
export type LimitValues = Record<LimitName, number>

export function defaultLimits(): LimitValues {
  const entries = Object.entries(limitTable).map(([name, limit]) => [name, limit.default])
  return Object.fromEntries(entries) as LimitValues
}
