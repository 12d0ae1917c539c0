// Answers in a form that the program requires: through the libraries that programs use, with providers that can and cannot be told.
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { ChatOpenAI } from '@langchain/openai'
import { generateObject, streamObject } from 'ai'
import OpenAI from 'openai'
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { turn } from '../../support/provider/upstream-turns.ts'
import { useUpstream } from '../../support/provider/use-upstream.ts'
import { describeOnEachServer, type TestServer } from '../../support/server/server.ts'

const upstream = await useUpstream()
const model = 'nanoclaw/scripted'
const Person = z.object({ name: z.string(), age: z.number() })
const ADA = { name: 'Ada', age: 36 }
const ANSWER = JSON.stringify(ADA)
const prompt = 'Who wrote the first program?'
const messages = [{ role: 'user' as const, content: prompt }]
const calculator = { name: 'calculator', arguments: { expression: '2 + 2' } }
const last = () => upstream.requests.at(-1)

describeOnEachServer('an answer in a required form', (start) => {
  let server: TestServer
  let client: OpenAI
  beforeAll(async () => {
    server = await start({
      models: [
        { id: 'scripted', api_url: upstream.url },
        { id: 'object', api_url: upstream.url, provider: 'deepseek' },
        { id: 'messages', api_url: `${upstream.url}/messages`, api: 'messages' },
      ],
      titles: 'off',
    })
    client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 })
  })

  test('`parse` of the openai package works with both APIs, and the provider gets the schema', async () => {
    upstream.enqueue(turn.text(ANSWER))
    const completion = await client.chat.completions.parse({
      model,
      messages,
      response_format: zodResponseFormat(Person, 'person'),
    })
    expect(completion.choices[0]?.message.parsed).toEqual(ADA)
    expect(last()?.body.response_format).toMatchObject({
      type: 'json_schema',
      json_schema: { name: 'person', strict: true, schema: { required: ['name', 'age'] } },
    })
    upstream.enqueue(turn.text(ANSWER))
    const response = await client.responses.parse({
      model,
      input: prompt,
      text: { format: zodTextFormat(Person, 'person') },
    })
    expect(response.output_parsed).toEqual(ADA)
    expect(response.text?.format).toMatchObject({ type: 'json_schema', name: 'person' })
  })

  test("the AI SDK's generateObject and streamObject work with each of its providers", async () => {
    const baseURL = `${server.url}/v1`
    const models = [
      createOpenAI({ baseURL, apiKey: 'none' })(model),
      createOpenAI({ baseURL, apiKey: 'none' }).chat(model),
      createOpenAICompatible({ name: 'nanoclaw', baseURL })(model),
      createOpenAICompatible({ name: 'nanoclaw', baseURL, supportsStructuredOutputs: true })(model),
    ]
    for (const one of models) {
      upstream.enqueue(turn.text(ANSWER))
      const { object } = await generateObject({ model: one, schema: Person, prompt, maxRetries: 0 })
      expect(object).toEqual(ADA)
      upstream.enqueue(turn.text(ANSWER))
      const streamed = streamObject({ model: one, schema: Person, prompt, maxRetries: 0 })
      let newest: unknown
      for await (const partial of streamed.partialObjectStream) newest = partial
      expect(newest).toEqual(ADA)
    }
  })

  test("LangChain's withStructuredOutput works with its default and with each of its methods", async () => {
    const chat = new ChatOpenAI({
      model,
      apiKey: 'none',
      maxRetries: 0,
      configuration: { baseURL: `${server.url}/v1` },
    })
    upstream.enqueue(turn.text(ANSWER))
    expect(await chat.withStructuredOutput(Person).invoke(prompt)).toEqual(ADA)
    upstream.enqueue(turn.text(ANSWER))
    expect(await chat.withStructuredOutput(Person, { method: 'jsonMode' }).invoke(prompt)).toEqual(
      ADA,
    )
    upstream.enqueue(turn.toolCalls([{ name: 'extract', arguments: ADA }]))
    expect(
      await chat
        .withStructuredOutput(Person, { method: 'functionCalling', name: 'extract' })
        .invoke(prompt),
    ).toEqual(ADA)
    expect(last()?.body.tool_choice).toEqual({ type: 'function', function: { name: 'extract' } })
  })

  test('the form holds for the answer after the rounds with tools, whose text counts as thinking', async () => {
    upstream.enqueue(turn.toolCalls([calculator], { text: 'Let me see.' }), turn.text(ANSWER))
    const { choices } = await client.chat.completions.create({
      model,
      messages,
      response_format: zodResponseFormat(Person, 'person'),
    })
    expect(choices[0]?.message).toMatchObject({
      content: ANSWER,
      reasoning_content: 'Let me see.',
    })
  })

  test('an answer without the form is asked for again, with what is wrong, and its fence is taken away', async () => {
    upstream.enqueue(
      turn.text('She is called Ada.'),
      turn.text('{"name":"Ada"}'),
      turn.text(`\`\`\`json\n${ANSWER}\n\`\`\``),
    )
    const { choices, usage } = await client.chat.completions.create({
      model: 'nanoclaw/object',
      messages,
      response_format: zodResponseFormat(Person, 'person'),
    })
    expect(choices[0]?.message.content).toBe(ANSWER)
    expect(usage?.prompt_tokens).toBe(30)
    expect(last()?.body.response_format).toEqual({ type: 'json_object' })
    expect(JSON.stringify(last()?.messages[0])).toContain('JSON schema')
    const texts = last()
      ?.messages.slice(-2)
      .map(({ content }) => content)
    expect(texts?.[0]).toBe('{"name":"Ada"}')
    expect(texts?.[1]).toContain('age')
  })

  test('a model that never gives the form fails with a reason instead of a wrong answer', async () => {
    upstream.enqueue(turn.text('No.'), turn.text('Never.'), turn.text('I said no.'))
    await expect(
      client.chat.completions.create({
        model: 'nanoclaw/object',
        messages,
        response_format: { type: 'json_object' },
      }),
    ).rejects.toMatchObject({ status: 502, code: 'model_answer_not_in_format' })
    upstream.expectDone()
  })

  test('a provider that refuses the field is asked without it', async () => {
    upstream.program(({ body }) =>
      body.response_format === undefined
        ? turn.text(ANSWER)
        : turn.error(400, 'response_format is not supported'),
    )
    const { choices } = await client.chat.completions.create({
      model,
      messages,
      response_format: zodResponseFormat(Person, 'person'),
    })
    upstream.reset()
    expect(choices[0]?.message.content).toBe(ANSWER)
    expect(JSON.stringify(last()?.messages[0])).toContain('JSON schema')
  })

  test('a schema that is none is refused before anything is asked', async () => {
    const before = upstream.requests.length
    await expect(
      client.chat.completions.create({
        model,
        messages,
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'x', schema: { type: 'nothing' } },
        },
      }),
    ).rejects.toMatchObject({ status: 400, code: 'answer_schema_invalid' })
    expect(upstream.requests.length).toBe(before)
  })
})
