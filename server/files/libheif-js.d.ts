// Types of what is used of libheif-js, which has none for this entry.
declare module 'libheif-js/wasm-bundle.js' {
  interface HeifImage {
    get_width(): number
    get_height(): number
    is_primary(): boolean
    /** Writes the pixels (RGBA), turned upright, into `data`; null when they cannot be decoded. */
    display(
      target: { data: Uint8ClampedArray; width: number; height: number },
      done: (result: object | null) => void,
    ): void
  }
  const libheif: { HeifDecoder: new () => { decode(file: Uint8Array): HeifImage[] } }
  export default libheif
}
