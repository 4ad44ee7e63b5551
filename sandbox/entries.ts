import { fileURLToPath } from 'node:url'

/** The files of ours that run inside a sandbox. A bundle puts its own built files beside this one, under the same names. */
export const sandboxEntries = {
  fileHost: entry('./file-host/main'),
  relay: entry('./egress/relay'),
}

function entry(name: string): string {
  const own = fileURLToPath(import.meta.url)
  return fileURLToPath(new URL(`${name}${own.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url))
}
