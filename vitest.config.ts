import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Real processes, real git, a real sandbox: slow is normal, endless is not.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    pool: 'forks',
    maxWorkers: 2,
    // Real processes on a shared machine: in CI a failure must show twice to count.
    retry: process.env['CI'] ? 1 : 0,
  },
})
