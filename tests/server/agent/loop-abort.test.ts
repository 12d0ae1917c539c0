// Aborting the agent loop, at any await and between any two events.
import { describe, expect, test } from 'vitest'
import {
  calling,
  finished,
  says,
  scriptedClient,
  text,
  thinking,
  toolCall,
  usage,
} from '../../support/provider/scripted-client.ts'
import { answerTo, inShort, run } from './run-loop.ts'

describe('an abort', () => {
  /** A run of two iterations in which every await goes through `between`. */
  const twoIterations = (between: (place: string) => Promise<void>, signal: AbortSignal) =>
    run(
      [
        says(
          [
            thinking('Hm.'),
            text('Looking.'),
            ...calling(toolCall('a'), toolCall('b')),
            finished('tool_calls'),
          ],
          () => between('model'),
        ),
        says([text('Found'), text(' it.'), finished()], () => between('model')),
      ],
      {
        signal,
        async budgetLeft() {
          await between('budget')
          return true
        },
        async fitToWindow(messages) {
          await between('window')
          return messages
        },
        // Like the executor: after an abort, the remaining calls still get a result, which says that they were stopped.
        async *runTools(calls) {
          for (const call of calls) {
            await between('tool')
            yield answerTo(call)
          }
        },
      },
    )

  const undisturbed = async (): Promise<{ places: string[]; events: string[] }> => {
    const places: string[] = []
    const note = async (place: string): Promise<void> => {
      places.push(place)
    }
    const { events } = await twoIterations(note, new AbortController().signal)
    return { places, events: inShort(events) }
  }

  test('at any await ends the run as stopped, with everything emitted so far and nothing new', async () => {
    const whole = await undisturbed()
    expect(whole.places.length).toBeGreaterThan(12)
    for (const [at, place] of whole.places.entries()) {
      const controller = new AbortController()
      let awaits = 0
      let afterAbort: string[] = []
      const { events, requests } = await twoIterations(async (here) => {
        await null
        if (awaits === at) controller.abort()
        else if (awaits > at) afterAbort = [...afterAbort, here]
        awaits += 1
      }, controller.signal)
      const what = `aborted in await ${at} (${place})`
      const emitted = inShort(events)
      expect(emitted.at(-1), what).toBe('stopped')
      expect(emitted.slice(0, -1), what).toEqual(whole.events.slice(0, emitted.length - 1))
      // Tools that were already called are read to the end, so that their results are stored and emitted.
      expect(
        afterAbort.filter((here) => here !== 'tool'),
        `${what}: nothing new begins`,
      ).toEqual([])
      const isInModel = place === 'model'
      expect(requests.length, what).toBe(
        whole.places
          .slice(0, at + 1)
          .filter((here, index, all) => here === 'model' && all[index - 1] !== 'model').length,
      )
      expect(events.at(-1), what).toEqual({ type: 'stopped', usage: isInModel ? usage : undefined })
    }
  })

  test('by the consumer between two events ends the run without another request or another batch of tools', async () => {
    const whole = await undisturbed()
    for (let count = 1; count < whole.events.length; count += 1) {
      const controller = new AbortController()
      const seen: string[] = []
      const llm = scriptedClient(
        says([
          thinking('Hm.'),
          text('Looking.'),
          ...calling(toolCall('a'), toolCall('b')),
          finished('tool_calls'),
        ]),
        says([text('Found'), text(' it.'), finished()]),
      )
      let requestsThen = 0
      const { events } = await run([], { llm, signal: controller.signal }, (event, soFar) => {
        seen.push(event.type)
        if (soFar === count) {
          controller.abort()
          requestsThen = llm.requests.length
        }
        return undefined
      })
      const what = `aborted after event ${count} (${whole.events[count - 1]})`
      expect(llm.requests.length, what).toBe(requestsThen)
      expect(inShort(events).at(-1), what).toBe('stopped')
      expect(inShort(events).slice(0, count), what).toEqual(whole.events.slice(0, count))
    }
  })

  test('before the start prevents every request', async () => {
    const { events, requests } = await run([], { signal: AbortSignal.abort() })
    expect(inShort(events)).toEqual(['stopped'])
    expect(requests).toEqual([])
  })

  test('still yields every result of the tools that were called, then ends the run', async () => {
    const controller = new AbortController()
    const { events } = await run(
      [says([...calling(toolCall('a'), toolCall('b'), toolCall('c')), finished('tool_calls')])],
      {
        signal: controller.signal,
        async *runTools(calls) {
          for (const call of calls) {
            yield answerTo(call)
            controller.abort()
          }
        },
      },
    )
    expect(inShort(events)).toEqual([
      'iteration:a+b+c',
      'result:a',
      'result:b',
      'result:c',
      'stopped',
    ])
  })

  test('that makes the tools throw ends the run as stopped', async () => {
    const controller = new AbortController()
    const { events } = await run([says([...calling(toolCall('a')), finished('tool_calls')])], {
      signal: controller.signal,
      // biome-ignore lint/correctness/useYield: it fails before its first result
      async *runTools() {
        controller.abort()
        throw new Error('The run was ended')
      },
    })
    expect(inShort(events)).toEqual(['iteration:a', 'stopped'])
  })
})
