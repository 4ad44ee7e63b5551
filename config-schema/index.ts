export {
  type ConfigSource,
  describeProblems,
  type EffectiveConfig,
  effectiveConfig,
  narrowestProfile,
  type ProfileName,
  type RepositoryRead,
  type Setting,
} from './effective-config.ts'
export { dataFolder, type Environment, type ModelEndpoint, modelEndpoint, readEnvironment, secretsOf } from './environment.ts'
export { defaultLimits, type LimitName, type LimitValues, limitTable } from './limits.ts'
export { OperatorConfig } from './operator-config.ts'
export { type ConfigParsed, type ConfigProblem, configBytesMax, parseConfig } from './parse-config.ts'
export { parseRedisUrl, type RedisAddress } from './redis-address.ts'
export { RepositoryConfig } from './repository-config.ts'
