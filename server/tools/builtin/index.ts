// All built-in tools in the order in which models are told of them.
import type { ToolDefinition } from '../definition.ts'
import type { ResultKeeper } from '../long-results.ts'
import { calculateArea } from './area.ts'
import { calculator } from './calculator.ts'
import { createClockTool } from './clock.ts'
import { jsonProcess } from './json.ts'
import { createResultReadTool } from './result-read.ts'
import { textProcess } from './text.ts'

export interface BuiltinDependencies {
  results: ResultKeeper
}

export const createBuiltinTools = (dependencies: BuiltinDependencies): ToolDefinition[] => [
  calculator,
  textProcess,
  jsonProcess,
  createResultReadTool(dependencies.results),
  createClockTool(),
  calculateArea,
]
