/**
 * What Redis calls an error, such as OOM or WRONGPASS; null for an error that is none of its answers. The other words of the
 * answer are left out: they may repeat what was sent, and the password is.
 */
export function replyErrorName(error: unknown): string | null {
  return error instanceof Error && error.name === 'ReplyError' ? error.message.replace(/\s[\s\S]*/, '') : null
}
