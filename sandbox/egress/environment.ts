import type { Network } from '../sandbox.ts'

/** What tells programs inside where the way out is. Own loopback servers are reached directly. */
export function proxyEnvironment(network: Network, port: number): Record<string, string> {
  if (network.kind !== 'proxy') return {}
  const proxy = `http://127.0.0.1:${port}`
  const direct = ['localhost', '127.0.0.1', '::1'].filter(host => !network.allow.some(entry => entry.host === host)).join(',')
  return {
    HTTP_PROXY: proxy,
    http_proxy: proxy,
    HTTPS_PROXY: proxy,
    https_proxy: proxy,
    NO_PROXY: direct,
    no_proxy: direct,
    // Node's own fetch and http look at the variables above only when told to.
    NODE_USE_ENV_PROXY: '1',
    npm_config_proxy: proxy,
    npm_config_https_proxy: proxy,
    npm_config_noproxy: direct,
    MAVEN_OPTS: `-Dhttp.proxyHost=127.0.0.1 -Dhttp.proxyPort=${port} -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=${port}`,
  }
}
