import path from 'node:path'

/** What tests start as `grokbot`: the built program when `./dev test` or `./dev crash` made one, as users have it; else the source. */
export const program = process.env['GROKBOT_PROGRAM'] ?? path.resolve(import.meta.dirname, '../cli/main.ts')
