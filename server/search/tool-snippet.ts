// Makes the snippet of a tool call or its result readable: JSON without its punctuation.

/** What every result begins and ends with. */
const ENVELOPE =
  /\{&quot;success&quot;:(?:true|false),&quot;(?:data|error)&quot;:(?:&quot;)?|,&quot;execution_time&quot;:[\d.]+\}/g
/** Adjacent punctuation. It belongs to the JSON if it contains a quote and more; alone, to the code or prose in a value. */
const PUNCTUATION = /(?:&quot;|[{}[\]:,])+/g

/**
 * `{"city":"<mark>Oslo</mark>","days":[1,2]}` as `city: <mark>Oslo</mark>, days: 1,2`.
 * @param html a snippet from `snippetOf`, which may begin and end anywhere in the JSON.
 */
export const readableToolSnippet = (html: string): string =>
  html
    .replaceAll(ENVELOPE, ' ')
    .replaceAll(PUNCTUATION, (found) => {
      if (!found.includes('&quot;') || found === '&quot;') return found
      return found.includes(':') ? ': ' : found.includes(',') ? ', ' : ' '
    })
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ([,:…])/g, '$1')
    .replace(/^[\s,]+|[\s,}\]]+$/g, '')
