import manifest from '../package.json' with { type: 'json' }

/** The version of this program, as bundles name it. */
export const toolVersion: string = manifest.version
