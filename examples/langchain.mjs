// LangChain with NanoClaw: ChatOpenAI streams the agent's answer.
// Usage: npm install @langchain/openai && node examples/langchain.mjs "What time is it in Tokyo?"
// Optional environment: NANOCLAW_URL, NANOCLAW_KEY, NANOCLAW_MODEL.
import { ChatOpenAI } from '@langchain/openai'

const chat = new ChatOpenAI({
  model: process.env.NANOCLAW_MODEL ?? 'nanoclaw',
  apiKey: process.env.NANOCLAW_KEY ?? 'none',
  configuration: { baseURL: `${process.env.NANOCLAW_URL ?? 'http://127.0.0.1:3000'}/v1` },
})
let answer = ''
for await (const chunk of await chat.stream(process.argv[2] ?? 'What is 12 * 34?'))
  answer += chunk.text
console.log(answer)
