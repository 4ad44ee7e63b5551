import type { TaskAccepted } from './event.ts'

type Subject = NonNullable<TaskAccepted['subject']>

/** What a task keeps of an issue: title and body together at most `bytesMax` bytes of UTF-8, with a mark where the body was cut. */
export function clipSubject<Given extends Pick<Subject, 'title' | 'body'>>(subject: Given, bytesMax: number): Given {
  const title = firstBytes(subject.title, bytesMax)
  const left = bytesMax - byteLength(title)
  const bytes = byteLength(subject.body)
  if (bytes <= left) return { ...subject, title }
  const kept = firstBytes(subject.body, left)
  return { ...subject, title, body: `${kept}\n\n[cut: ${byteLength(kept)} of ${bytes} bytes were kept]` }
}

/** Never half of a character: the decoder drops the part of one that the cut left behind. */
function firstBytes(text: string, bytesMax: number): string {
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= bytesMax) return text
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, bytesMax), { stream: true })
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length
}
