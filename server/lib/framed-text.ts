// Text from elsewhere as a model is shown it: between tags that the text itself can neither close nor open.

/** `tag` is a plain word of ours. Whatever in the text looks like this tag is written so that it no longer is one. */
export function framedText(tag: string, text: string, attributes = ''): string {
  const ownTag = new RegExp(`<(?=\\s*/?\\s*${tag}\\b)`, 'gi')
  return `<${tag}${attributes}>\n${text.replace(ownTag, '&lt;')}\n</${tag}>`
}
