// stub
import type { LlmClient } from './client.ts'
export const withPromptTools = (
  client: LlmClient,
  _options: { results: 'tool' | 'user' },
): LlmClient => client
