// Names and arguments of tool calls as models and gateways write them: read where one meaning is possible, else refused.
import { describe, expect, test } from 'vitest'
import { meantTool, readableArguments } from '../../../server/llm/readable-calls.ts'

const offered = [
  'calculator',
  'get_current_time',
  'file_read',
  'mcp__wiki__search',
  'mcp__s__echo_text',
]

describe('the name of a tool', () => {
  test.each([
    ['calculator', 'calculator'],
    [' calculator ', 'calculator'],
    // Kimi K2 (vllm-project/vllm#21259) and harmony templates.
    ['functions.calculator', 'calculator'],
    ['functions.calculator:0', 'calculator'],
    ['calculator:12', 'calculator'],
    // Gemini.
    ['default_api.calculator', 'calculator'],
    ['default_api:calculator', 'calculator'],
    // gpt-oss: channel marks leak into the name (openai/harmony#47).
    ['calculator<|channel|>commentary', 'calculator'],
    ['functions.calculator<|constrain|>json', 'calculator'],
    ['tools/calculator', 'calculator'],
    ['calculator()', 'calculator'],
    ['calculatorcalculator', 'calculator'],
    ['Calculator', 'calculator'],
    ['getCurrentTime', 'get_current_time'],
    ['get-current-time', 'get_current_time'],
    ['mcp__wiki__search', 'mcp__wiki__search'],
    ['mcp_wiki_search', 'mcp__wiki__search'],
    ['mcp-wiki-search', 'mcp__wiki__search'],
    ['wiki__search', 'mcp__wiki__search'],
    ['wiki.search', 'mcp__wiki__search'],
    ['functions.mcp__wiki__search:1', 'mcp__wiki__search'],
    ['echo_text', 'mcp__s__echo_text'],
  ])('%j means %s', (name, tool) => {
    expect(meantTool(name, offered)).toBe(tool)
  })

  test.each(['calc', 'calculator2', 'file_read file_write', 'delete_everything', 'functions', ''])(
    '%j means no tool',
    (name) => {
      expect(offered).not.toContain(meantTool(name, offered))
    },
  )

  test('that names another MCP server means none of its tools', () => {
    const listed = ['mcp__server_b__delete_file', 'file_read']
    for (const name of [
      'server_a.delete_file',
      'functions.server_a.delete_file',
      'server_a/delete_file',
      'mcp__server_a__delete_file',
      'server_a.file_read',
    ])
      expect(listed).not.toContain(meantTool(name, listed))
    for (const name of ['server_b.delete_file', 'functions.server_b.delete_file', 'delete_file'])
      expect(meantTool(name, listed)).toBe('mcp__server_b__delete_file')
  })

  test('that could mean two tools means none', () => {
    expect(meantTool('search', ['mcp__a__search', 'mcp__b__search'])).toBe('search')
    expect(meantTool('filERead', ['file_read', 'fileread'])).toBe('filERead')
  })
})

describe('the arguments of a call', () => {
  const whole = '{"text":"a"}'
  test.each([
    ['', '{}'],
    ['  ', '{}'],
    ['null', '{}'],
    ['"null"', '{}'],
    ['""', '{}'],
    ['"{}"', '{}'],
    ['None', '{}'],
    ['[]', '{}'],
    ['{}', '{}'],
    [whole, whole],
    [` ${whole}\n`, whole],
    [JSON.stringify(whole), whole],
    [JSON.stringify(JSON.stringify(whole)), whole],
    [`{}${whole}`, whole],
    [`{}\n{} ${whole}`, whole],
    [`${whole}${whole}`, whole],
    [`${whole}}`, whole],
    [`${whole}</tool_call>`, whole],
    [`${whole}<|im_end|>`, whole],
    [`${whole}<｜tool▁call▁end｜>`, whole],
    [`\`\`\`json\n${whole}\n\`\`\``, whole],
    [`\`\`\`\n${whole}`, whole],
    ['{"text":"a",}', whole],
    ['{"list":[1,2,],}', '{"list":[1,2]}'],
    ["{'text': 'a'}", whole],
    ["{'text': 'it\\'s'}", '{"text":"it\'s"}'],
    ['{text: "a"}', whole],
    ["{'on': True, 'off': False, 'none': None}", '{"on":true,"off":false,"none":null}'],
    ['{"text":"a" // note\n}', whole],
    ['{"text":"a"', whole],
    ['{"list":["a"', '{"list":["a"]}'],
    ['{"text":"a"\n"more":"b"}', '{"text":"a","more":"b"}'],
    ['{"text":"a\nb\tc"}', '{"text":"a\\nb\\tc"}'],
  ])('%j are %j', (given, read) => {
    expect(readableArguments(given, { isCut: false })).toBe(read)
  })

  test.each([
    'Paris',
    '"Paris"',
    '12',
    'true',
    '[{"text":"a"}]',
    '{"text":"a"}{"text":"b"}',
    '{"text":"a',
    '{"text":"a",',
    '{"text":',
    '{"count":12',
    '{"text":}',
    '{"text":a b}',
    '{"text":"say "hi" now"}',
    '{"text":"he said "no", and left"}',
    '{"path":"C:\\data"}',
    '{"text":"a","text":"b"',
    '{"a":1,,"b":2}',
    '{"a":[1,...]}',
    '{',
  ])('%j cannot be told', (given) => {
    expect(readableArguments(given, { isCut: false })).toBeNull()
  })

  test('are read in linear time, however much white space is between their parts', () => {
    const space = ' '.repeat(199_900)
    for (const given of [
      `{"text":${space}"a",}`,
      `${whole}${space}</tool_call>`,
      `\`\`\`json${space}${whole}`,
      `\`\`\`json\n${whole}${space}\`\`\``,
    ])
      expect(readableArguments(given, { isCut: false })).toBe(whole)
    for (const given of [`${whole}${space}x`, `{"text":${space}<>`, `${'<|x|>'.repeat(39_000)}`])
      expect(readableArguments(given, { isCut: false })).toBeNull()
  })

  test('that may have been cut off are not completed', () => {
    for (const cut of ['', '{"text":"a"', '{"list":["a"]'])
      expect(readableArguments(cut, { isCut: true })).toBeNull()
    expect(readableArguments(whole, { isCut: true })).toBe(whole)
  })

  test('never change inside of a string', () => {
    for (const text of [
      '// no comment',
      "it's, or: 'x'",
      '{"a": 1,}',
      'True,\nNone',
      'a } ] b',
      '<|x|>',
      '```',
    ])
      expect(readableArguments(`{"text":${JSON.stringify(text)},}`, { isCut: false })).toBe(
        JSON.stringify({ text }),
      )
  })
})
