// Joins sentences of the page as the language does.

/** `language`: of the page. Chinese and Japanese have no space between sentences. */
export const joinSentences = (language: string, ...sentences: string[]): string =>
  sentences.join(/^(zh|ja)/.test(language) ? '' : ' ')
