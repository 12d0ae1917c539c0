// All built-in tools, in the order in which models see them.
import type { Knowledge } from '../../knowledge/knowledge.ts'
import type { GuardedFetch } from '../../net/guarded-fetch.ts'
import type { PageReader } from '../../net/page-reader.ts'
import type { WorkspaceServices } from '../../workspace/workspace-services.ts'
import type { ToolDefinition } from '../definition.ts'
import type { LongResultStore } from '../long-results.ts'
import { calculateArea } from './area.ts'
import { calculator } from './calculator.ts'
import { createClockTool } from './clock.ts'
import { createExecTool, type ExecDependencies } from './exec.ts'
import { createExecutePythonTool, type ExecutePythonDependencies } from './execute-python.ts'
import { createPageTools } from './fetch-page.ts'
import { createFileEditTool } from './file-edit.ts'
import { createReadingFileTools } from './files-read.ts'
import { createWritingFileTools } from './files-write.ts'
import { createGenerateImageTool, type GenerateImageDependencies } from './generate-image.ts'
import { jsonProcess } from './json.ts'
import { createSendMessageTool, type SendMessageDependencies } from './message.ts'
import { multiAgent } from './multi-agent.ts'
import { createSeenFiles } from './project-access.ts'
import { createResultReadTool } from './result-read.ts'
import { createSaveMemoryTool, type SaveMemoryDependencies } from './save-memory.ts'
import { createSearchKnowledgeTool } from './search-knowledge.ts'
import { spawn } from './spawn.ts'
import { textProcess } from './text.ts'
import { createWeatherTool, type WeatherSettings } from './weather.ts'
import { createWebSearchTool, searchProviders, type WebSearchSettings } from './web-search.ts'

/** Everything that the tools depend on. */
export interface BuiltinDependencies {
  fetch: GuardedFetch
  pages: PageReader
  results: LongResultStore
  memory: SaveMemoryDependencies
  messages: SendMessageDependencies
  knowledge: Pick<Knowledge, 'search' | 'list' | 'whenFound'>
  webSearch: WebSearchSettings
  weather: WeatherSettings
  services: WorkspaceServices
  /** How `exec` runs commands; null on servers where it is off. */
  exec: Omit<ExecDependencies, 'services'> | null
  python: ExecutePythonDependencies
  /** Null on servers without an image service. */
  images: Omit<GenerateImageDependencies, 'services'> | null
}

export const createBuiltinTools = (dependencies: BuiltinDependencies): ToolDefinition[] => {
  const {
    fetch,
    pages,
    results,
    webSearch,
    weather,
    memory,
    messages,
    knowledge,
    services,
    exec,
    python,
    images,
  } = dependencies
  const files = { services, seen: createSeenFiles() }
  return [
    createWebSearchTool(searchProviders(webSearch, fetch, pages)),
    ...createPageTools({ fetch, pages }),
    calculator,
    textProcess,
    jsonProcess,
    createResultReadTool(results),
    createClockTool(),
    calculateArea,
    createWeatherTool(weather, fetch),
    createSearchKnowledgeTool(knowledge),
    ...createReadingFileTools(files),
    ...createWritingFileTools(files),
    createFileEditTool(files),
    createExecutePythonTool(python),
    ...(exec === null ? [] : [createExecTool({ services, ...exec })]),
    ...(images === null ? [] : [createGenerateImageTool({ services, ...images })]),
    createSaveMemoryTool(memory),
    createSendMessageTool(messages),
    multiAgent,
    spawn,
  ]
}
