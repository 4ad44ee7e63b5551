/** Below it all new branches of ours are. */
export const branchFolder = 'grok'

/** The worker's own limits, each with its unit. They follow from how it works and not from what an operator runs. */
export const workerLimits = {
  /** So many files that were left out are named in the reason of a task; the event has all of them. */
  leftOutNamedMax: 5,
  /** A binary file of a change above this is not searched for credentials, and so is left out and named. */
  binaryBytesMax: 16_777_216,
  /** Binary files of one change that are searched, each by its own; when the patch is too large, files of any kind. */
  binaryFilesMax: 200,
  /** So much of a change is searched for credentials before the thread that renews leases has its turn. */
  searchedAtOnceCharacters: 4_194_304,
  /** So much of each such piece is in the next one too: more than any credential is long. */
  searchedTwiceCharacters: 32_768,
  /** A work tree of more entries (installed packages count) is looked at by git alone, which passes over what is ignored. */
  stampEntriesMax: 20_000,
  /** A file of configuration or instructions that is read from the base commit. */
  baseFileBytesMax: 262_144,
  /** Entries of the root of the base commit that are listed; in a larger one every file is looked for by its name. */
  rootEntriesMax: 10_000,
  /** What is recorded of the output of setup, and of a check. */
  outputCharactersMax: 20_000,
  /** Hosts that are recorded for setup, reached and refused. */
  setupHostsMax: 200,
  /** Of more output of a check than this the counts are not known. */
  countedBytesMax: 33_554_432,
  /** What of the model's words stands in a commit message. */
  messageCharactersMax: 4_000,
  /** The title of a pull request and of a commit: longer ones are cut where they are listed. */
  titleCharactersMax: 72,
  /** What a model says under one label of a pull request; more of it stands with its other words. */
  labelledCharactersMax: 600,
  /** Of the grace of a worker that is told to go: how long its comments may take to say so. */
  handBackWordsMs: 2_000,
  /** Lines of what was done in a progress comment: with the rest of it they are twelve, one look. */
  linesOfWorkMax: 4,
  /** How long a task's end waits for the app to have made its check run; after that the sweep finishes it. */
  checkRunWaitMs: 3_000,
  /** A progress comment that was made longer ago has been read: a bad end is then told by another one. */
  commentFreshMs: 600_000,
  /** The same for the comment of a task that had to wait. */
  queuedWaitMs: 3_000,
  /** Between two looks whether it has. */
  checkRunLookMs: 50,
  /** The title of a check run, which stands in lists. */
  checkTitleCharactersMax: 120,
  /** Of a failing check's output, folded in a comment. */
  outputShownLinesMax: 40,
  /** The same in characters. */
  outputShownCharactersMax: 6_000,
  /** Of an answer in a comment; the prompt asks for fifteen lines. */
  answerCharactersMax: 24_000,
  /** Suggestions of one review: a change with more of them is read as a patch. */
  suggestionsMax: 10,
  /** Places that were read, named under an answer. */
  sourcesNamedMax: 12,
  /** How far our clock may be ahead of GitHub's, where a record does not have GitHub's own time. */
  clockMarginMs: 86_400_000,
  /** Tries of a fetch that fails although the remote answers: its connection may have broken in the middle. */
  brokenFetchTriesMax: 3,
  /** The same of a commit by its id, which a remote that has lost it refuses at once. */
  goneFetchTriesMax: 2,
  /** The longest of the growing waits while GitHub is away. */
  outageWaitMsMax: 60_000,
  /** The longest wait a timer of Node can hold. */
  timerMsMax: 2_147_483_647,
  /** Between two turns of whatever is done again and again. */
  gapMsMin: 10,
  /** Until settings that could not be read are read again. */
  settingsRetryMs: 1_000,
  /** So long the writing of a bundle may keep its thread from everything else at once. */
  sliceMs: 10,
  /** Of a change that GitHub's API makes, which takes no pack. */
  signedFilesMax: 200,
  /** The same in bytes: most of it is one request. */
  signedBytesMax: 8_388_608,
  /** Effects of one task: two pushes, each by git and by the API, and a pull request, the progress comment and its last text, a reply and a comment instead of it, the check run's end. */
  effectsOfTaskMax: 10,
  /** How often a bundle is made again at once when the ledger went on meanwhile; after that the next sweep does it. */
  bundleRoundsMax: 3,
  /** Bundles of others that one sweep makes; the next one goes on behind them. */
  bundlesAtOnceMax: 100,
  /** How long a signing command may take: a KMS is one request away. */
  signerWallMs: 30_000,
  /** What a signing command may answer. */
  signerOutputBytesMax: 4_096,
  /** A file with a signing key. */
  keyFileBytesMax: 65_536,
  /** What one answer of a model may have at most. */
  outputTokensMax: 16_384,
} as const
