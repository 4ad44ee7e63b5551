#!/usr/bin/env node
import { keepCompiled } from './keep-compiled.ts'

/** Everything else is loaded after the cache is open, so that it comes out of it at the second start. */
keepCompiled()
void import('./program.ts').then(({ main }) => main())
