/** The limits of the pages behind links, each with its unit. They follow from how a page is read and not from what an operator runs. */
export const pagesLimits = {
  /** Events read in one go: others have their turn in between, above all what renews leases. */
  pageEventsAtOnceMax: 250,
  /** Events read for one page; no task comes near it. */
  pageEventsMax: 50_000,
  /** Until a page that is not made is given up. */
  pageMsMax: 10_000,
  /** Pages made at the same time; who comes then is told to come again. */
  pagesAtOnceMax: 4,
  /** A reader that takes nothing for so long is hung up on. */
  pageIdleMs: 30_000,
  /** Receipts a page shows, the newest; the bundle has all. */
  pageReceiptsMax: 250,
  /** Events a page shows, the newest; the bundle has all. */
  pageEventRowsMax: 300,
  /** Files of a change a page names, in each of its lists; the patch has all. */
  pageFilesMax: 200,
  /** Denied calls a page names one by one, the newest. */
  pageDeniedMax: 20,
  /** Checks a page shows by cell. */
  pageChecksMax: 20,
  /** Checks whose output a page shows. */
  pageOutputsMax: 8,
  /** What a page shows of one output: its end. */
  pageOutputCharactersMax: 6_000,
  /** What a page shows of the model's words and of a reason: their beginning. */
  pageWordsCharactersMax: 6_000,
  /** What a page shows of one name, command or title. */
  pageNameCharactersMax: 240,
  /** So much behind what a page shows of a text is searched for credentials with it: one that is cut would not be known. */
  pageSearchedBehindCharacters: 2_048,
  /** Public keys that are published. */
  pageKeysMax: 1_000,
} as const
