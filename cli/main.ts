#!/usr/bin/env node
import { keepCompiled } from './keep-compiled.ts'

/** Everything else is loaded after the cache is open, so that it comes out of it at the second start. */
keepCompiled()
const { main } = await import('./program.ts')
await main()
