// Frames text from outside for a model: between tags that the text can neither close nor open.

/** `tag` is a plain word chosen by this server. Whatever in the text looks like this tag is escaped. */
export function framedText(tag: string, text: string, attributes = ''): string {
  const ownTag = new RegExp(`<(?=\\s*/?\\s*${tag}\\b)`, 'gi')
  return `<${tag}${attributes}>\n${text.replace(ownTag, '&lt;')}\n</${tag}>`
}
