// The example of a tool in one file, so that it keeps working.
import { expect, test } from 'vitest'
import { rollDice } from '../../examples/dice-tool.ts'
import { toSchema } from '../../server/tools/definition.ts'
import { bench, call, read, runTool } from '../server/tools/support.ts'

test('the schema tells the model the parameters, their limits and their meaning', () => {
  expect(toSchema(rollDice)).toMatchObject({
    type: 'function',
    function: {
      name: 'roll_dice',
      parameters: {
        type: 'object',
        properties: { count: { type: 'integer', default: 1, maximum: 100 } },
      },
    },
  })
})

test('the tool rolls, refuses invalid arguments and reports its own errors', async () => {
  expect(await runTool(rollDice, { count: 3, sides: 2 })).toMatchObject({
    success: true,
    data: { rolls: { length: 3 } },
  })
  expect(await runTool(rollDice, { count: 101 })).toMatchObject({ success: false })
  expect(await runTool(rollDice, { count: 1, keep: 2 })).toMatchObject({
    error: 'keep can be at most 1.',
  })
})

test('two equal calls of one iteration both roll, because the tool is not cacheable', async () => {
  const answers = await bench([rollDice]).execute([call('a', 'roll_dice'), call('b', 'roll_dice')])
  expect(answers.map((answer) => read(answer).cached)).toEqual([undefined, undefined])
})
