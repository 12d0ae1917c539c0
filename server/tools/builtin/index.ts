// All built-in tools in the order in which models are told of them.
import type { Knowledge } from '../../knowledge/knowledge.ts'
import type { GuardedFetch } from '../../net/guarded-fetch.ts'
import type { PageReader } from '../../net/page-reader.ts'
import type { ToolDefinition } from '../definition.ts'
import type { ResultKeeper } from '../long-results.ts'
import { calculateArea } from './area.ts'
import { calculator } from './calculator.ts'
import { createClockTool } from './clock.ts'
import { createPageTools } from './fetch-page.ts'
import { jsonProcess } from './json.ts'
import { createResultReadTool } from './result-read.ts'
import { createSaveMemoryTool, type SaveMemoryDependencies } from './save-memory.ts'
import { createSearchKnowledgeTool } from './search-knowledge.ts'
import { textProcess } from './text.ts'
import { createWeatherTool, type WeatherSettings } from './weather.ts'
import { createWebSearchTool, searchProviders, type WebSearchSettings } from './web-search.ts'

/** What the tools reach the world through; nothing else is at their hand. */
export interface BuiltinDependencies {
  fetch: GuardedFetch
  pages: PageReader
  results: ResultKeeper
  memory: SaveMemoryDependencies
  knowledge: Pick<Knowledge, 'search' | 'list'>
  webSearch: WebSearchSettings
  weather: WeatherSettings
}

export const createBuiltinTools = (dependencies: BuiltinDependencies): ToolDefinition[] => {
  const { fetch, pages, results, webSearch, weather, memory, knowledge } = dependencies
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
    createSaveMemoryTool(memory),
  ]
}
