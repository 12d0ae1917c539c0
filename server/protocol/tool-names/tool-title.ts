// The name of a tool for people, the same on the page and in documents that the server writes.

/**
 * The name of a built-in tool, `mcp__server__tool` as "server: tool", others as plain words.
 * @param nameOf the name of a tool in one language (`toolNames` of locales/<language>/tools.json); undefined if it has none.
 */
export function titleOfTool(name: string, nameOf: (name: string) => string | undefined): string {
  const named = nameOf(name)
  if (named !== undefined) return named
  const [prefix, server, ...rest] = name.split('__')
  if (prefix === 'mcp' && server !== undefined && rest.length > 0)
    return `${server}: ${rest.join(' ').replaceAll('_', ' ')}`
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
