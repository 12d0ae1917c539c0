// The demo model: says that it is a demo, calls real tools for simple requests, and answers from their results.
import { describe, expect, test } from 'vitest'
import type { Language } from '../../../../locales/languages.ts'
import { textLanguage } from '../../../../server/lib/text-language.ts'
import type { LlmMessage, ToolSchema } from '../../../../server/llm/client.ts'
import { createDemoClient } from '../../../../server/llm/demo/demo-client.ts'
import { areaTexts, flat, languages } from '../../../support/page/texts.ts'
import { llmRequest, readResponse } from '../../../support/provider/llm.ts'

const names = [
  'get_current_time',
  'get_weather',
  'calculator',
  'calculate_area',
  'fetch_page',
  'file_list',
  'file_write',
  'execute_python',
]
const tools: ToolSchema[] = names.map((name) => ({
  type: 'function',
  function: { name, description: '', parameters: {} },
}))
const demo = createDemoClient({ delayMs: 0 })
const ask = (content: string, offered = tools) =>
  readResponse(demo, llmRequest({ messages: [{ role: 'user', content }], tools: offered }))

/** What the page suggests in a language, as people send it. */
const suggestionsIn = (language: Language): string[] =>
  flat(areaTexts(language, 'first-screen'))
    .filter(([key]) => /^home\.try\.(?:tour|time|sum|files)\.text$/.test(key))
    .map(([, text]) => text)

describe('the demo model', () => {
  test.each(languages())('answers what the page suggests in its language, %s', (language) => {
    const suggestions = suggestionsIn(language)
    expect(suggestions).toHaveLength(4)
    expect(suggestions.map((text) => textLanguage(text))).toEqual(suggestions.map(() => language))
  })

  test('a message that tells no language is answered in that of the reader’s page', async () => {
    const answer = (language?: Language) =>
      readResponse(
        demo,
        llmRequest({
          messages: [{ role: 'user', content: '12 * 4' }],
          tools,
          ...(language === undefined ? {} : { language }),
        }),
      )
    expect((await answer('de')).text).toContain('Einen Moment')
    expect((await answer()).text).toContain('One moment')
  })

  test.each([
    ['What time is it?', 'get_current_time', {}],
    ['what time is it in Tokyo', 'get_current_time', { timezone: 'Asia/Tokyo' }],
    ['现在几点了？', 'get_current_time', {}],
    ['Wie spät ist es in Peking?', 'get_current_time', { timezone: 'Asia/Shanghai' }],
    ['Quelle heure est-il à Londres ?', 'get_current_time', { timezone: 'Europe/London' }],
    ['¿Qué hora es en Nueva York?', 'get_current_time', { timezone: 'America/New_York' }],
    ['Que horas são em Tóquio?', 'get_current_time', { timezone: 'Asia/Tokyo' }],
    ['Который час в Берлине?', 'get_current_time', { timezone: 'Europe/Berlin' }],
    ['ロンドンは今何時ですか？', 'get_current_time', { timezone: 'Europe/London' }],
    ['파리는 지금 몇 시야?', 'get_current_time', { timezone: 'Europe/Paris' }],
    ['紐約現在幾點？', 'get_current_time', { timezone: 'America/New_York' }],
    ['What time is it? I am on the Roman road.', 'get_current_time', {}],
    ['Wie ist das Wetter in Wien?', 'get_weather', { city: 'Wien' }],
    ['Quel temps fait-il à Paris ?', 'get_weather', { city: 'Paris' }],
    ['Какая погода в Москве?', 'get_weather', { city: 'moscow' }],
    ["What's the weather in New York today?", 'get_weather', { city: 'New York' }],
    ['北京今天天气怎么样？', 'get_weather', { city: '北京' }],
    ['查询上海的天气', 'get_weather', { city: '上海' }],
    ['What is 12 * (3 + 4)?', 'calculator', { expression: '12 * (3 + 4)' }],
    ['what is 6 times 7', 'calculator', { expression: '6 * 7' }],
    ['3 加 4 等于多少', 'calculator', { expression: '3 + 4' }],
    ['帮我计算半径为8的圆的面积', 'calculate_area', { shape: 'circle', radius: 8 }],
    [
      'the area of a rectangle 5 by 3',
      'calculate_area',
      { shape: 'rectangle', width: 5, height: 3 },
    ],
    ['Please fetch https://example.com/a?b=1.', 'fetch_page', { url: 'https://example.com/a?b=1' }],
    ['List the files', 'file_list', { path: '.' }],
    ['列出项目里的文件', 'file_list', { path: '.' }],
    ['Write a file notes.txt with hello', 'file_write', { path: 'notes.txt', content: 'hello\n' }],
    ['Run ```python\nprint(1)\n```', 'execute_python', { code: 'print(1)\n' }],
  ])('calls the right tool for: %s', async (question, tool, args) => {
    const { calls, thinking } = await ask(question)
    expect(calls.map((call) => [call.name, JSON.parse(call.arguments)])).toEqual([[tool, args]])
    expect(thinking).not.toBe('')
  })

  test('calls several tools for several requests', async () => {
    const { calls: ofClimate } = await ask('How does climate change affect Berlin?')
    expect(ofClimate).toEqual([])
    const { calls } = await ask('What time is it, and what is the weather in Berlin?')
    expect(calls.map((call) => call.name)).toEqual(['get_current_time', 'get_weather'])
    expect(new Set(calls.map((call) => call.id)).size).toBe(2)
  })

  test.each([
    ['Hello there', /not a language model/],
    ['你好', /不是语言模型/],
    ['In 2024-05 we met', /not a language model/],
    ['Hallo, wie geht es dir?', /kein Sprachmodell/],
    ['Olá, tudo bem?', /não um modelo de linguagem/],
  ])('says that it is not a language model in reply to: %s', async (question, says) => {
    const { text, calls, end } = await ask(question)
    expect(text).toMatch(says)
    expect(calls).toEqual([])
    expect(end).toMatchObject({ type: 'finished', reason: 'stop', estimated: true, model: 'demo' })
  })

  test('names the tool that it would need when there is none', async () => {
    const { text, calls } = await ask('What time is it?', [])
    expect(calls).toEqual([])
    expect(text).toContain('Get time')
  })

  test('answers from results and failures of tools, always in the same way', async () => {
    const callId = 'call_demo_1' as never
    const result = (content: object): LlmMessage[] => [
      { role: 'user', content: 'What is 6 * 7?' },
      {
        role: 'assistant',
        content: '',
        toolCalls: [{ id: callId, name: 'calculator', arguments: '{}' }],
      },
      { role: 'tool', callId, name: 'calculator', content: JSON.stringify(content) },
    ]
    const answer = async (content: object) =>
      readResponse(demo, llmRequest({ messages: result(content), tools }))
    const first = await answer({ success: true, data: { result: 42 } })
    expect(first.text).toContain('**42**')
    expect(first.text).toContain('not a language model')
    expect(first.calls).toEqual([])
    expect((await answer({ success: true, data: { result: 42 } })).said).toEqual(first.said)
    expect((await answer({ success: false, error: 'division by zero' })).text).toContain(
      'division by zero',
    )
  })

  test.each([
    ['Give me a tour.', /\| Step \|[\s\S]*```mermaid/, /That was the tour/],
    ['Mach mit mir einen Rundgang.', /\| Schritt \|[\s\S]*```mermaid/, /Das war der Rundgang/],
    ['请带我看一遍导览。', /\| 步骤 \|[\s\S]*```mermaid/, /导览到此结束/],
    ['請帶我看一遍導覽。', /\| 步驟 \|[\s\S]*```mermaid/, /導覽到此結束/],
    ['Propose-moi une visite guidée.', /\| Étape \|[\s\S]*```mermaid/, /La visite est terminée/],
    ['Hazme un recorrido.', /\| Paso \|[\s\S]*```mermaid/, /Ese fue el recorrido/],
    ['Faça um tour comigo.', /\| Passo \|[\s\S]*```mermaid/, /Esse foi o tour/],
    ['Проведи экскурсию.', /\| Шаг \|[\s\S]*```mermaid/, /Это была экскурсия/],
    ['ツアーをお願いします。', /\| ステップ \|[\s\S]*```mermaid/, /ツアーはこれで終わり/],
    ['둘러보기를 시작해 주세요.', /\| 단계 \|[\s\S]*```mermaid/, /둘러보기가 끝났습니다/],
  ])(
    'gives a tour for “%s”: a table, a diagram, a program, and a change of a file',
    async (question, shows, ends) => {
      const messages: LlmMessage[] = [{ role: 'user', content: question }]
      const next = async (offered = tools) =>
        readResponse(demo, llmRequest({ messages, tools: offered }))
      const returns = (name: string, success: boolean): void => {
        const callId = `call_demo_${messages.length}` as never
        messages.push(
          { role: 'assistant', content: '', toolCalls: [{ id: callId, name, arguments: '{}' }] },
          { role: 'tool', callId, name, content: JSON.stringify({ success, data: {} }) },
        )
      }
      const first = await next()
      expect(first.text).toMatch(shows)
      expect(first.calls.map(({ name }) => name)).toEqual(['execute_python'])
      returns('execute_python', true)
      // Where the tools for files are off, there is no file to change.
      const withoutFiles = await next(
        tools.filter(({ function: { name } }) => !name.startsWith('file')),
      )
      expect(withoutFiles.text).toMatch(ends)
      expect(withoutFiles.calls).toEqual([])
      const second = await next()
      expect(second.calls.map(({ name }) => name)).toEqual(['file_write'])
      returns('file_write', false)
      const last = await next()
      expect(last.text).toMatch(ends)
      expect(last.calls).toEqual([])
    },
  )

  test('stops when the signal is aborted', async () => {
    const controller = new AbortController()
    const response = await readResponse(
      createDemoClient(),
      llmRequest({ signal: controller.signal }),
      () => controller.abort(),
    )
    expect(response.end.type).toBe('failed')
  })
})
