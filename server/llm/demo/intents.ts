// The requests that the demo model recognizes, and the tool call for each.
import { cityIn } from './intents/cities.ts'

/** A tool call that the demo model makes for a message. */
export interface DemoCall {
  tool: string
  arguments: Record<string, unknown>
}

/** Recognizes one kind of request; null for any other text. */
type Intent = (text: string) => DemoCall | null

const url: Intent = (text) => {
  const found = /https?:\/\/[^\s"'<>)\]，。）]+/i.exec(text)
  return found === null
    ? null
    : { tool: 'fetch_page', arguments: { url: found[0].replace(/[.,;:!?]+$/, '') } }
}

const time: Intent = (text) => {
  if (
    !/\b(what time|current time|the time|time is it|what date|what day|today's date|time in)\b|wie spät|quelle heure|qué hora|que horas|который час|何時|몇 시|几点|幾點|现在时间|当前时间|的时间|几号|日期|星期几/i.test(
      text,
    )
  )
    return null
  const named = /\b[A-Z][a-z]+\/[A-Z][A-Za-z_]+\b/.exec(text)?.[0]
  const timezone = named ?? cityIn(text)?.timezone
  return { tool: 'get_current_time', arguments: timezone === undefined ? {} : { timezone } }
}

const weather: Intent = (text) => {
  if (
    !/\b(weather|temperature|forecast)\b|天气|气温|天氣|氣溫|wetter|météo|quel temps|qué tiempo|\bclima\b|previsão do tempo|погод|天気|날씨/i.test(
      text,
    )
  )
    return null
  const english = /\b(?:in|for|at|of)\s+([A-Z][\p{L}.'-]*(?:\s+[A-Z][\p{L}.'-]*)*)/u.exec(text)?.[1]
  const chinese = /([\p{Script=Han}]{2,12}?)(?:市)?(?:今天|现在|明天|当前|最近)?的?(?:天气|气温)/u
    .exec(text)?.[1]
    ?.replace(/^.*?(?:查询|查一下|看看|告诉我|请问|然后|以及|和|查)/u, '')
  const city = english ?? cityIn(text)?.name ?? chinese
  return city === undefined || city === '' ? null : { tool: 'get_weather', arguments: { city } }
}

const numberAfter = (text: string, pattern: RegExp): number | undefined => {
  const found = pattern.exec(text)?.[1]
  return found === undefined ? undefined : Number(found)
}

const area: Intent = (text) => {
  if (!/\barea\b|面积/i.test(text)) return null
  const call = (measures: Record<string, unknown>): DemoCall => ({
    tool: 'calculate_area',
    arguments: measures,
  })
  const radius = numberAfter(text, /(?:radius|半径)\D{0,6}(\d+(?:\.\d+)?)/i)
  if (radius !== undefined) return call({ shape: 'circle', radius })
  const two = /(\d+(?:\.\d+)?)\D+?(\d+(?:\.\d+)?)/.exec(text)
  if (two === null) return null
  const [, one, other] = two
  return /triang|三角/i.test(text)
    ? call({ shape: 'triangle', base: Number(one), height: Number(other) })
    : call({ shape: 'rectangle', width: Number(one), height: Number(other) })
}

const words: readonly [RegExp, string][] = [
  [/\b(?:times|multiplied by)\b|乘以|乘|×/gi, '*'],
  [/\bplus\b|加上|加/gi, '+'],
  [/\bminus\b|减去|减/gi, '-'],
  [/\bdivided by\b|除以|÷/gi, '/'],
  [/（/g, '('],
  [/）/g, ')'],
]

const arithmetic: Intent = (text) => {
  if (/https?:\/\//i.test(text)) return null
  const plain = words.reduce((changed, [word, sign]) => changed.replace(word, sign), text)
  const expression = /[(\d.-][\d\s.+\-*/()^%]*[\d)]/.exec(plain)?.[0].trim()
  // A date or a plain number is not arithmetic.
  if (expression === undefined || !/\d\s*[+\-*/^%]+\s*[\d(-]/.test(expression)) return null
  if (/^\d{4}-\d{1,2}(-\d{1,2})?$/.test(expression)) return null
  return { tool: 'calculator', arguments: { expression } }
}

const writeFile: Intent = (text) => {
  const found =
    /\b(?:write|create|save)\s+(?:a\s+|the\s+)?file\s+(?:named\s+|called\s+)?[`"']?([\w./-]+)[`"']?\s+(?:with|containing|saying)\s+(?:the\s+)?(?:text\s+|content\s+)?([\s\S]+)/i.exec(
      text,
    ) ??
    /(?:写入?|创建|新建)文件\s*[`"“]?([\w./-]+)[`"”]?[，,\s]*内容(?:是|为)?[：:\s]*([\s\S]+)/.exec(
      text,
    )
  if (found === null) return null
  const content = (found[2] ?? '').trim().replace(/^["'“]([\s\S]*)["'”]$/, '$1')
  return { tool: 'file_write', arguments: { path: found[1], content: `${content}\n` } }
}

const listFiles: Intent = (text) =>
  /\b(list|show|see|which|what)\b.{0,24}\bfiles?\b|liste .{0,12}(dateien|fichiers)|list[ae] .{0,5}(archivos|arquivos)|файлов этого проекта|プロジェクトのファイル|프로젝트의 파일|列出.{0,8}(文件|檔案)|有(?:哪些|什么)文件|文件列表/i.test(
    text,
  )
    ? { tool: 'file_list', arguments: { path: '.' } }
    : null

const runPython: Intent = (text) => {
  const code = /```(?:python|py)\n([\s\S]*?)```/i.exec(text)?.[1]
  return code === undefined ? null : { tool: 'execute_python', arguments: { code } }
}

const INTENTS: readonly Intent[] = [time, weather, area, url, writeFile, listFiles, runPython]

const MAX_CALLS = 4
/** Only this much of a message is read, so that no pattern runs over a long text. */
const MAX_TEXT = 2000

/** The calls for a message; empty if it contains no known request. */
export function readIntents(message: string): DemoCall[] {
  const text = message.slice(0, MAX_TEXT)
  const found = INTENTS.flatMap((intent) => intent(text) ?? [])
  // Numbers in a recognized request belong to that request. Only a message with nothing but an expression is arithmetic.
  const sum = found.length === 0 ? arithmetic(text) : null
  return [...found, ...(sum === null ? [] : [sum])].slice(0, MAX_CALLS)
}
