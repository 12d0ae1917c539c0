// All built-in tools, in the order in which models see them.
import type { Knowledge } from '../../knowledge/knowledge.ts'
import type { GuardedFetch } from '../../net/guarded-fetch.ts'
import type { PageReader } from '../../net/page-reader.ts'
import type { WorkspaceServices } from '../../workspace/workspace-services.ts'
import type { ToolDefinition } from '../definition.ts'
import type { LongResultStore } from '../long-results.ts'
import type { PrepareImage } from '../result-image.ts'
import { createSendMessageTool, type SendMessageDependencies } from './agents/message.ts'
import { multiAgent } from './agents/multi-agent.ts'
import { planTool } from './agents/plan.ts'
import { spawn } from './agents/spawn.ts'
import { createUseSkillTool, type SkillSource } from './agents/use-skill.ts'
import { calculateArea } from './compute/area.ts'
import { calculator } from './compute/calculator.ts'
import { createClockTool } from './compute/clock.ts'
import { jsonProcess } from './compute/json.ts'
import { textProcess } from './compute/text.ts'
import { createFileEditTool } from './files/file-edit.ts'
import { createReadingFileTools, type ReadingDependencies } from './files/files-read.ts'
import { createWritingFileTools } from './files/files-write.ts'
import { createSeenFiles } from './files/project-access.ts'
import { createGenerateImageTool, type ImagePrice } from './images/generate-image.ts'
import { createImagesApi, type ImagesApiSettings } from './images/images-api.ts'
import { createNamedImages, type ImageSources } from './images/named-images.ts'
import { type CiteDependencies, createCiteTool } from './knowledge/cite.ts'
import { createResultReadTool } from './knowledge/result-read.ts'
import { createSaveMemoryTool, type SaveMemoryDependencies } from './knowledge/save-memory.ts'
import { createSearchKnowledgeTool } from './knowledge/search-knowledge.ts'
import { createExecTool, type ExecDependencies } from './programs/exec.ts'
import {
  createExecutePythonTool,
  type ExecutePythonDependencies,
} from './programs/execute-python.ts'
import { createOutputStore } from './programs/stored-output.ts'
import { nothingToReport } from './schedules/nothing-to-report.ts'
import { createScheduleTools, type ScheduleTools } from './schedules/schedule-tools.ts'
import { createPageTools } from './web/fetch-page.ts'
import { createWeatherTool, type WeatherSettings } from './web/weather.ts'
import { createWebSearchTool, searchProviders, type WebSearchSettings } from './web/web-search.ts'

/** The service that generates images, and what it costs. */
type ImageSettings = ImagesApiSettings & { price: ImagePrice | null }

/** Everything that the built-in tools depend on. */
export interface BuiltinDependencies {
  fetch: GuardedFetch
  pages: PageReader
  results: LongResultStore
  citations: CiteDependencies['citations']
  memory: SaveMemoryDependencies
  messages: SendMessageDependencies
  skills: SkillSource & ExecDependencies['skills']
  knowledge: Pick<Knowledge, 'search' | 'list' | 'whenFound'>
  webSearch: WebSearchSettings
  weather: WeatherSettings
  services: WorkspaceServices
  /** How `exec` runs commands; null if the operator has not enabled it. */
  exec: Omit<ExecDependencies, 'services' | 'skills'> | null
  python: Omit<ExecutePythonDependencies, 'storeOutput'>
  /** Prepares a picture of a project as models see it. */
  prepareImage: PrepareImage
  isUnaccepted: ReadingDependencies['isUnaccepted']
  /** Null if schedules are off. */
  schedules: ScheduleTools | null
  /** Null if no image service is configured. */
  images: ImageSettings | null
  /** Where generated images are stored, and those that are changed found. */
  imageSources: Omit<ImageSources, 'readFiles'>
}

/** The registry decides later which of the tools models are offered. */
export const createBuiltinTools = (dependencies: BuiltinDependencies): ToolDefinition[] => {
  const {
    fetch,
    pages,
    results,
    citations,
    webSearch,
    weather,
    memory,
    messages,
    skills,
    knowledge,
    services,
    exec,
    python,
    images,
    imageSources,
    prepareImage,
    isUnaccepted,
    schedules,
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
    createSearchKnowledgeTool(knowledge, services.projects),
    createCiteTool({ results, citations }),
    ...createReadingFileTools({ ...files, prepareImage, isUnaccepted }),
    ...createWritingFileTools(files),
    createFileEditTool(files),
    createExecutePythonTool({ ...python, storeOutput: createOutputStore(services) }),
    ...(exec === null ? [] : [createExecTool({ services, skills, ...exec })]),
    ...(images === null
      ? []
      : [
          createGenerateImageTool({
            ...images,
            ...createNamedImages({ ...imageSources, readFiles: python.readFiles }),
            generate: createImagesApi(images, fetch),
            services,
          }),
        ]),
    createSaveMemoryTool(memory),
    createSendMessageTool(messages),
    ...(schedules === null ? [] : [...createScheduleTools(schedules), nothingToReport]),
    planTool,
    createUseSkillTool(skills),
    multiAgent,
    spawn,
  ]
}
