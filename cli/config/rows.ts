import type { EffectiveConfig, Setting } from '../../config-schema/index.ts'

/** One line of `config show`: a value under the name by which a file sets it. */
export type ConfigRow = { name: string; setting: Setting<unknown> }

/** Every value that counts, in a fixed order. */
export function rowsOf(config: EffectiveConfig): ConfigRow[] {
  const { limits } = config
  return [
    { name: 'setup', setting: config.setup },
    { name: 'checks', setting: config.checks },
    { name: 'include', setting: config.include },
    { name: 'protected', setting: config.protected },
    { name: 'ci', setting: config.ci },
    { name: 'sandbox.profile', setting: config.profile },
    { name: 'sandbox.policy', setting: config.policy },
    { name: 'sandbox.roots', setting: config.roots },
    { name: 'sandbox.masked', setting: config.masked },
    { name: 'sandbox.readHost', setting: config.readHost },
    { name: 'egress.allow', setting: config.egressAllow },
    { name: 'egress.allowPrivate', setting: config.egressAllowPrivate },
    ...Object.entries(limits).map(([name, setting]) => ({ name: `limits.${name}`, setting })),
  ]
}
