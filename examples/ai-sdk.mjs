// The AI SDK with NanoClaw: one answer uses tools of the server and a tool of this program.
// Usage: npm install ai @ai-sdk/openai-compatible zod && node examples/ai-sdk.mjs "How warm is it in the hall?"
// Optional environment: NANOCLAW_URL, NANOCLAW_KEY, NANOCLAW_MODEL.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText, stepCountIs, tool } from 'ai'
import { z } from 'zod'

const nanoclaw = createOpenAICompatible({
  name: 'nanoclaw',
  baseURL: `${process.env.NANOCLAW_URL ?? 'http://127.0.0.1:3000'}/v1`,
  ...(process.env.NANOCLAW_KEY ? { apiKey: process.env.NANOCLAW_KEY } : {}),
})
const { text } = await generateText({
  // Without `:tools`, a program that brings tools of its own gets none of the server's.
  model: nanoclaw(`${process.env.NANOCLAW_MODEL ?? 'nanoclaw'}:tools`),
  prompt: process.argv[2] ?? 'What is 12 * 34?',
  stopWhen: stepCountIs(5),
  tools: {
    thermometer: tool({
      description: 'Reads the thermometer of a room.',
      inputSchema: z.object({ room: z.string() }),
      execute: async ({ room }) => `21 °C in the ${room}`,
    }),
  },
})
console.log(text)
