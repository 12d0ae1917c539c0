// Makes the snippet of a tool call or its result readable: JSON without its punctuation.

/** What every result begins and ends with. */
const ENVELOPE =
  /\{&quot;success&quot;:(?:true|false),&quot;(?:data|error)&quot;:|,&quot;execution_time&quot;:[\d.]+\}/g
const NAME = /&quot;((?:(?!&quot;)[^:{}[\]]){1,80})&quot;:/g

/**
 * `{"city":"<mark>Oslo</mark>","days":[1,2]}` as `city: <mark>Oslo</mark>, days: 1,2`.
 * @param html a snippet from `snippetOf`, which may begin and end anywhere in the JSON.
 */
export const readableToolSnippet = (html: string): string =>
  html
    .replaceAll(ENVELOPE, ' ')
    .replaceAll(NAME, ' $1: ')
    .replaceAll(/&quot;|[{}[\]]/g, ' ')
    .replaceAll(/(?:\s*,)+(?=\s|$)\s*/g, ', ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ([,:…])/g, '$1')
    .replace(/^[\s,]+|[\s,]+$/g, '')
