const words: Readonly<Record<string, string>> = {
  'untrusted-text': 'text of people without write access was read',
  'hidden-text': 'hidden text was removed from what was read',
  'untrusted-repository': 'files of people without write access were read',
  network: 'something from outside was fetched',
}

/** Why a task is tainted, in words; a source that is not known speaks for itself. */
export function taintWords(source: string): string {
  return Object.hasOwn(words, source) ? (words[source] ?? source) : source
}
