// The machine code of Pyodide's main module: made once from what a start runs, later loaded instead of compiled again.
import { setFlagsFromString } from 'node:v8'
import { runInThisContext } from 'node:vm'

/**
 * Calls an internal function of V8, the only way to store compiled WebAssembly. Its syntax is allowed for this call alone, and
 * only before a program is read.
 */
function callNative(name, ...values) {
  setFlagsFromString('--allow-natives-syntax')
  try {
    const names = values.map((_, index) => `value${index}`).join(', ')
    return runInThisContext(`((${names}) => %${name}(${names}))`)(...values)
  } finally {
    setFlagsFromString('--no-allow-natives-syntax')
  }
}

/**
 * Provides Pyodide's main module: from `machineCode` (an exact buffer) or, if that is null, by compiling it. With `optimizes`,
 * each function is optimized when it first runs, and `machineCode()` returns the result.
 */
export function createMainModule({ machineCode, optimizes }) {
  const { instantiate } = WebAssembly
  let bytes = null
  let compiled = null
  if (optimizes) setFlagsFromString('--no-liftoff')

  const load = () => {
    const module = callNative('DeserializeWasmModule', machineCode.buffer, bytes)
    // V8 compares its version, its flags and the features of the processor with those of the build.
    if (!(module instanceof WebAssembly.Module))
      throw new Error('The machine code was made for another V8')
    machineCode = null
    return module
  }

  WebAssembly.instantiate = async (source, imports) => {
    if (bytes === null || source?.buffer !== bytes.buffer) return await instantiate(source, imports)
    compiled = machineCode === null ? await WebAssembly.compile(bytes) : load()
    return { module: compiled, instance: await instantiate(compiled, imports) }
  }

  return {
    /** Remembers the module's bytes, by which its instantiation is recognized. */
    offer(content) {
      bytes = new Uint8Array(content.buffer, content.byteOffset, content.byteLength)
      return bytes
    },
    machineCode() {
      setFlagsFromString('--liftoff')
      // Switched off together with Liftoff. The flags must be those of a start.
      setFlagsFromString('--wasm-dynamic-tiering')
      return new Uint8Array(callNative('SerializeWasmModule', compiled))
    },
    /** Restores WebAssembly and releases the bytes. Call it when Pyodide has started. */
    close() {
      WebAssembly.instantiate = instantiate
      bytes = compiled = null
    },
  }
}
