import * as z from 'zod'

/** Models write numbers and booleans as strings. The schema they are shown names the plain type. */
export function lenientInt() {
  return z.preprocess(value => {
    if (typeof value !== 'string' || value.trim() === '') return value === '' ? undefined : value
    const number = Number(value)
    return Number.isSafeInteger(number) ? number : value
  }, z.int().optional())
}

export function lenientBoolean() {
  return z.preprocess(value => (value === 'true' ? true : value === 'false' ? false : value), z.boolean().optional())
}
