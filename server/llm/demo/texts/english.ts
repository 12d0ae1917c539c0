// What the demo model says in English.
import type { DemoTexts } from './demo-texts.ts'

export const english: DemoTexts = {
  thinkingBefore: (names) =>
    `A fixed rule of the demo recognises this request. The tool for it: ${names}.`,
  thinkingTour: 'The demo knows the tour by heart.',
  calling: (names) => `One moment: ${names}.`,
  thinkingAfter: 'The tools have answered. The demo repeats what they found.',
  result: (name) => `${name}:`,
  signature:
    '*I am the built-in demo, not a language model: I only repeat what the tools answered.*',
  thinkingPlain: 'No fixed rule of the demo fits this message.',
  noTool: (names) =>
    `I am the built-in demo, not a language model. For this I would need a tool that is switched off here: ${names}.`,
  introduction: `I am the **built-in demo, not a language model**, and answer only a few prepared questions, with real tools. Ask for **a tour**, or for one of these:

- What time is it in Tokyo?
- 12 * (3 + 4)
- The area of a circle with radius 5
- List the files (in a conversation with a project)
- Write a file notes.txt with hello (in a project; you will be asked first)

For answers to everything else, add a real model: any OpenAI-compatible API, or a local Ollama.`,
  tour: {
    start: `This is the **built-in demo, not a language model**: what follows is prepared, but everything in it is real.

Answers can have tables,`,
    head: ['Step', 'Who does it', 'You see'],
    rows: [
      ['Think', 'the model', 'its thoughts, folded'],
      ['Act', 'a tool', 'what went in and came out'],
      ['Change', 'a tool, after you allow it', 'the difference, and undo'],
    ],
    diagrams: 'and diagrams:',
    flow: {
      question: 'Your question',
      model: 'Model',
      needs: 'needs something',
      tool: 'Tool',
      risky: 'risky',
      you: 'You allow or reject',
      answer: 'Answer',
    },
    program: 'Now a small Python program, in the sandbox of this server:',
    plot: 'Temperature of a day in °C',
    plotted: 'The program has drawn the plot: open the step to see its code.',
    programFailed: 'The program did not run here. An answer says so, and goes on.',
    change:
      'Next, a change in your project. You see it before it happens: allow it or reject it, both are fine.',
    changed:
      'The file is in the project now. In the **History** of the project you see the change and can undo it.',
    rejected: 'You have rejected it, so nothing has changed.',
    withoutProject:
      'In a conversation with a project, I would also propose a change of a file, which you see before it happens and can undo.',
    end: 'That was the tour. With a real model, you ask for what you need in your own words.',
    file: '# A file of the tour\n\nYou allowed this change. Undo it in the history of the project.\n',
  },
}
