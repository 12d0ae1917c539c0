// The tokens of a run, as the Responses API counts them.
import type { ResponseObject } from '../protocol/openai/responses.ts'
import type { Usage } from '../protocol/runs/usage.ts'

type CountedUsage = Usage & { reasoning_tokens?: number | undefined }

/** Usage with the names of the Responses API. */
export const responseUsage = (usage: CountedUsage): NonNullable<ResponseObject['usage']> => ({
  input_tokens: usage.prompt_tokens,
  input_tokens_details: { cached_tokens: usage.cached_tokens },
  output_tokens: usage.completion_tokens,
  output_tokens_details: { reasoning_tokens: usage.reasoning_tokens ?? 0 },
  total_tokens: usage.total_tokens,
})
