// Other names by which models call built-in tools: the server runs the tool, the page shows its result as that of the tool.

/** Tool -> its other names, which models know from other programs. */
export const TOOL_ALIASES = {
  fetch_page: ['web_fetch'],
  file_edit: ['edit_file'],
  file_glob: ['glob'],
  file_grep: ['grep'],
  file_list: ['ls', 'list_dir'],
  file_read: ['read_file'],
  file_write: ['write_file'],
  multi_agent: ['agent_task', 'parallel_execute'],
} as const satisfies Readonly<Record<string, readonly string[]>>

const toolOfAlias: ReadonlyMap<string, string> = new Map(
  Object.entries(TOOL_ALIASES).flatMap(([tool, aliases]) =>
    aliases.map((alias): [string, string] => [alias, tool]),
  ),
)

/** The tool that a name or alias stands for; any other name as it is. */
export const canonicalToolName = (name: string): string => toolOfAlias.get(name) ?? name
