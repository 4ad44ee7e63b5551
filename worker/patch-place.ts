/** Where the kept patch of a task is found, as the end of "the patch is in …". */
export function patchPlace(taskId: string): string {
  return `the record of this run: \`grokbot runs show ${taskId}\``
}
