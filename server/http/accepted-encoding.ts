// Which compression a client accepts.

/** Whether the header `Accept-Encoding` names the encoding without refusing it with `q=0`. */
export const acceptsEncoding = (
  header: string | string[] | undefined,
  encoding: 'br' | 'gzip',
): boolean =>
  String(header)
    .split(',')
    .some((entry) => {
      const [name = '', ...parameters] = entry.split(';').map((part) => part.trim())
      return (
        name.toLowerCase() === encoding && !parameters.some((each) => /^q=0(\.0*)?$/i.test(each))
      )
    })
