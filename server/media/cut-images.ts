// Cuts images out of a response of the images API, so that neither the JSON parser nor a conversion of megabytes blocks.

const MARK = '"b64_json"'

/** `text`: the JSON with empty images. `images`: their base64, in order; empty for those that have only an address. */
export function cutImages(body: Buffer): { text: string; images: Buffer[] } {
  const kept: Buffer[] = []
  const images: Buffer[] = []
  let from = 0
  for (;;) {
    const mark = body.indexOf(MARK, from)
    if (mark === -1) break
    const start = body.indexOf('"', mark + MARK.length) + 1
    const between = start === 0 ? '' : body.toString('latin1', mark + MARK.length, start)
    // `"b64_json": null`, as some servers write it next to a URL.
    if (!/^\s*:\s*"$/.test(between)) {
      kept.push(body.subarray(from, mark + MARK.length))
      from = mark + MARK.length
      continue
    }
    const end = body.indexOf('"', start)
    if (end === -1) return { text: '', images: [] }
    kept.push(body.subarray(from, start))
    images.push(body.subarray(start, end))
    from = end
  }
  kept.push(body.subarray(from))
  return { text: Buffer.concat(kept).toString(), images }
}
