// The icons of tools.
import {
  BookOpen,
  Bot,
  Braces,
  Brain,
  Calculator,
  Clock,
  CloudSun,
  FilePen,
  FileSearch,
  FileText,
  FolderOpen,
  Globe,
  Image,
  type LucideIcon,
  Plug,
  Search,
  Send,
  Shapes,
  SquareTerminal,
  Trash2,
  Type,
  Wrench,
} from 'lucide-react'

const TOOL_ICONS: readonly [RegExp, LucideIcon][] = [
  [/^mcp__/, Plug],
  [/web_search/, Search],
  [/fetch|crawl/, Globe],
  [/calculator/, Calculator],
  [/calculate_area/, Shapes],
  [/text_process/, Type],
  [/json/, Braces],
  [/time/, Clock],
  [/weather/, CloudSun],
  [/knowledge/, BookOpen],
  [/grep|glob|exists/, FileSearch],
  [/list|mkdir|^ls$/, FolderOpen],
  [/delete/, Trash2],
  [/write|edit/, FilePen],
  [/read/, FileText],
  [/python|exec/, SquareTerminal],
  [/agent|spawn|parallel/, Bot],
  [/generate_image/, Image],
  [/memory/, Brain],
  [/message/, Send],
]

/** The icon of a tool, given its name; a wrench for tools without one, such as those of MCP servers. */
export const toolIcon = (name: string): LucideIcon =>
  TOOL_ICONS.find(([pattern]) => pattern.test(name))?.[1] ?? Wrench
