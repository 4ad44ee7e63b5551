import type { Command } from 'commander'
import { areas, catalogue, isProblemCode, type ProblemCode, problemCodes } from '../domain/index.ts'
import { escapeText, toSafeJson } from './escape.ts'
import { UsageError, withoutMarks } from './exit.ts'
import { nearestWord } from './nearest-word.ts'

type Options = { json?: boolean }

export function define(command: Command): void {
  command
    .argument('[code]', 'as it stands at the end of an error or of a reason; nothing: all of them')
    .option('--json', 'print one object, or one array')
  command.action((code: string | undefined, options: Options) => explain(code, options))
}

/** The catalogue, as docs/errors.md has it. */
function explain(given: string | undefined, { json }: Options): void {
  const code = given === undefined ? undefined : readCode(given)
  const print = (text: string) => void process.stdout.write(`${text}\n`)
  if (json) print(toSafeJson(code === undefined ? problemCodes.map(rowOf) : rowOf(code)))
  else print(code === undefined ? renderList() : renderProblem(code))
}

/** As it was copied: in the brackets it stands in, in any case. */
function readCode(given: string): ProblemCode {
  const code = given
    .trim()
    .replace(/^\[|\]$/g, '')
    .toLowerCase()
  if (isProblemCode(code)) return code
  const nearest = nearestWord(code, problemCodes)
  const words = `there is no code ${escapeText(given)}`
  if (nearest === null) throw new UsageError('unknown-code', words)
  throw new UsageError('unknown-code', words, [`the nearest is ${nearest}: grokbot explain ${nearest}`])
}

function rowOf(code: ProblemCode) {
  return { code, ...catalogue[code] }
}

export function renderProblem(code: ProblemCode): string {
  const { area, what, why, next } = catalogue[code]
  const rows = [
    ['code', `${code}  (${area})`],
    ['what', what],
    ['why', why],
    ...next.map((text, index) => [index === 0 ? 'next' : '', text]),
  ]
  return rows.map(([name = '', text = '']) => `${name.padEnd(4)} ${withoutMarks(text)}`).join('\n')
}

export function renderList(): string {
  const columns = Math.max(...problemCodes.map(code => code.length))
  return areas
    .map(area => {
      const rows = problemCodes.filter(code => catalogue[code].area === area)
      return [area, ...rows.map(code => `  ${code.padEnd(columns)}  ${withoutMarks(catalogue[code].what)}`)].join('\n')
    })
    .join('\n\n')
}
