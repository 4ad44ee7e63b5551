/** Git's own limits, each with its unit. They follow from how it works and not from what an operator runs. */
export const gitLimits = {
  /** A patch above this is not made: the change's files are then searched for credentials one by one, and no patch is kept. */
  patchBytesMax: 134_217_728,
  /** One listing of a remote branch, before a push and after it. */
  readBackWallMs: 60_000,
  /** Of what a remote prints beside a refused push, for people. */
  remoteLinesMax: 12,
  /** One such line. */
  remoteLineCharactersMax: 300,
  /** Removing one folder of a run. */
  removeWallMs: 120_000,
  /** One more question to a remote that gave nothing, to say why. */
  probeWallMs: 10_000,
  /** More packs than this are put together after a fetch. */
  packsMax: 50,
  /** How long a caller waits for another process that fetches the same repository. */
  lockWaitMs: 600_000,
  /** What one git process may print before it is killed. */
  outputBytesMax: 536_870_912,
  /** What one git process may print of errors before it is killed. */
  stderrBytesMax: 1_048_576,
  /** The lists a tree sandbox wrote: names only. */
  listBytesMax: 67_108_864,
  /** A pack is bounded in size, but its objects unfold: the process that reads it is bounded too. */
  indexPackMemoryBytesMax: 4_294_967_296,
  /** The same for its processor time. */
  indexPackCpuSecondsMax: 120,
  /** A pointer of Git LFS is never larger (its specification says less than 1024 bytes). */
  pointerBytesMax: 1_023,
  /** A `.git` file that points to a gitdir, and the files of one that point further. */
  gitPointerBytesMax: 4_096,
  /** A folder for reading a person's repository that is this old belongs to a process that died. */
  scratchKeptMs: 3_600_000,
  /** Reading one commit of a person's own repository, for `verify`. */
  commitWallMs: 60_000,
  /** A commit is one small object. */
  commitBytesMax: 4_194_304,
  /** A `.gitattributes` that is read to know what Git LFS has. */
  attributesBytesMax: 1_048_576,
  /** Where a symbolic link leads: the kernel follows no longer one. */
  linkBytesMax: 4_095,
  /** A path of a tree: the kernel opens no longer one. */
  pathBytesMax: 4_096,
  /** A file that is read from a commit, where the caller names no limit. */
  fileAtBytesMax: 1_048_576,
  /** Above this many added and removed files git looks for no inexact renames. */
  renamesMax: 1_000,
  /** Groups for mirrors on a root host, one for each. */
  mirrorGidsMax: 9_000,
  /** Looking at a person's repository: where it stands, and what of its work tree is not committed. */
  theirsWallMs: 60_000,
  /** All of applying a change to a person's work tree, looking included. */
  applyWallMs: 300_000,
  /** What the settings that are taken over from a person's configuration may have together. */
  settingsBytesMax: 65_536,
  /** A list of ignored names, or of attributes, outside of a work tree. */
  rulesBytesMax: 1_048_576,
  /** A person's index, or the larger part of one that is split. It is copied. */
  indexBytesMax: 1_073_741_824,
  /** A person's packed branches and tags, or the list of where a shallow clone is cut. */
  refsFileBytesMax: 1_073_741_824,
  /** The lists of attributes and of ignored names at the top of a work tree; git itself reads no larger one. */
  workRulesBytesMax: 104_857_600,
  /** Commits of a base that are looked at for whether they are signed off. */
  signedOffMax: 20,
  /** Fewer say nothing. */
  signedOffMin: 5,
  /** Paths that a refusal to apply a change names. */
  pathsNamedMax: 5,
} as const
