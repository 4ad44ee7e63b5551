/**
 * An address that may be a link: on the GitHub of this installation, over https, within the task's own repository. Null:
 * anything else, whoever recorded it, is shown as text or not at all.
 */
export function ownAddress(address: unknown, place: { githubHost: string; owner: string; name: string }): string | null {
  if (typeof address !== 'string' || !URL.canParse(address)) return null
  const { protocol, host, username, password, pathname, href } = new URL(address)
  const inside = `/${place.owner}/${place.name}/`.toLowerCase()
  const isOwn = protocol === 'https:' && host === place.githubHost.toLowerCase() && username === '' && password === ''
  return isOwn && pathname.toLowerCase().startsWith(inside) ? href : null
}
