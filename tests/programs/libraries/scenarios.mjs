// Runs one scenario of a library and prints what came of it as JSON: `node <library>.mjs <scenario> <question>`.
/** @param {Record<string, (question: string) => Promise<object>>} scenarios */
export async function play(scenarios) {
  const [, , name = '', question = ''] = process.argv
  try {
    const result = await scenarios[name](question)
    console.log(JSON.stringify(result))
  } catch (error) {
    console.log(
      JSON.stringify({ error: String(error), cause: String(error.cause ?? ''), code: error.code }),
    )
  }
  // Some libraries keep connections open.
  process.exit()
}

/** The address of the server's `/v1`. */
export const BASE_URL = `${process.env.NANOCLAW_URL}/v1`
/** The name of the model. */
export const MODEL = 'nanoclaw/scripted'
/** What the program's own tool answers. */
export const readThermometer = ({ room }) => `21 °C in the ${room}`
