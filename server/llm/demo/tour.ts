// The tour of the demo model: half a minute on what the page can show, with real tool calls and nothing that must fail.
import type { DemoCall } from './intents.ts'

/** What asks for the tour, in each of the page's languages. */
const ASKED = /\btour\b|导览|導覽|rundgang|visite guidée|recorrido|экскурси|ツアー|둘러보기/i

const MAX_TEXT = 500

/** Whether a message asks for the tour. */
export const asksForTour = (message: string): boolean =>
  message.length <= MAX_TEXT && ASKED.test(message)

/** A program without packages: what it prints is a small chart. */
const PROGRAM = `import math

for hour in range(0, 25, 2):
    height = round(12 + 10 * math.sin((hour - 6) * math.pi / 12))
    print(f"{hour:2d}:00 {'█' * height} {height}°")
`

/** One part of the tour: its text and the call that follows. */
interface Part {
  text: string
  calls: readonly DemoCall[]
}

/** What has happened since the tour was asked for: each tool result by the name of its tool, and whether it succeeded. */
export type TourResults = ReadonlyMap<string, boolean>

/** The next part of the tour. `tools` are those that this conversation has; `fileName` is that of a file that does not exist. */
export function tourPart(
  message: string,
  results: TourResults,
  tools: ReadonlySet<string>,
  fileName: string,
): Part {
  const say =
    /\p{Script=Han}/u.test(message) && !/\p{Script=Katakana}/u.test(message)
      ? chinese
      : /rundgang/i.test(message)
        ? german
        : english
  const python = { tool: 'execute_python', arguments: { code: PROGRAM } }
  const file = { tool: 'file_write', arguments: { path: fileName, content: say.file } }
  if (results.size === 0 && tools.has(python.tool))
    return { text: `${say.start}\n\n${say.program}`, calls: [python] }
  const before = results.size === 0 ? [say.start] : []
  if (results.has(python.tool) && !results.has(file.tool))
    before.push(results.get(python.tool) === true ? say.printed : say.programFailed)
  if (!results.has(file.tool) && tools.has(file.tool))
    return { text: [...before, say.change].join('\n\n'), calls: [file] }
  const after = !results.has(file.tool)
    ? say.withoutProject
    : results.get(file.tool) === true
      ? say.changed
      : say.rejected
  return { text: [...before, after, say.end].join('\n\n'), calls: [] }
}

const english = {
  start: `This is the **built-in demo, not a language model**: what follows is prepared, but everything in it is real.

Answers can have tables,

| Step | Who does it | You see |
| --- | --- | --- |
| Think | the model | its thoughts, folded |
| Act | a tool | what went in and came out |
| Change | a tool, after you allow it | the difference, and undo |

and diagrams:

\`\`\`mermaid
flowchart LR
  question[Your question] --> model[Model]
  model -->|needs something| tool[Tool]
  tool --> model
  tool -.->|risky| you[You allow or reject]
  you -.-> tool
  model --> answer[Answer]
\`\`\``,
  program: 'Now a small Python program, in the sandbox of this server:',
  printed: 'The chart above is what the program printed: open the step to see its code.',
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
}

const german: typeof english = {
  start: `Das ist die **eingebaute Demo, kein Sprachmodell**: Was folgt, ist vorbereitet, aber alles darin ist echt.

Antworten können Tabellen enthalten

| Schritt | Wer ihn macht | Was du siehst |
| --- | --- | --- |
| Denken | das Modell | seine Gedanken, eingeklappt |
| Handeln | ein Tool | was hineinging und herauskam |
| Ändern | ein Tool, wenn du es erlaubst | den Unterschied und „Rückgängig“ |

und Diagramme:

\`\`\`mermaid
flowchart LR
  question[Deine Frage] --> model[Modell]
  model -->|braucht etwas| tool[Tool]
  tool --> model
  tool -.->|riskant| you[Du erlaubst oder lehnst ab]
  you -.-> tool
  model --> answer[Antwort]
\`\`\``,
  program: 'Jetzt ein kleines Python-Programm, in der Sandbox dieses Servers:',
  printed:
    'Das Diagramm oben hat das Programm ausgegeben: Öffne den Schritt, um den Code zu sehen.',
  programFailed: 'Das Programm lief hier nicht. Eine Antwort sagt das und macht weiter.',
  change:
    'Als Nächstes eine Änderung in deinem Projekt. Du siehst sie, bevor sie geschieht: Erlaube sie oder lehne sie ab, beides ist in Ordnung.',
  changed:
    'Die Datei liegt jetzt im Projekt. Im **Verlauf** des Projekts siehst du die Änderung und kannst sie rückgängig machen.',
  rejected: 'Du hast sie abgelehnt, also ist nichts geändert.',
  withoutProject:
    'In einer Unterhaltung mit einem Projekt würde ich auch eine Änderung an einer Datei vorschlagen, die du vorher siehst und rückgängig machen kannst.',
  end: 'Das war der Rundgang. Ein echtes Modell fragst du mit deinen eigenen Worten.',
  file: '# Eine Datei des Rundgangs\n\nDu hast diese Änderung erlaubt. Im Verlauf des Projekts machst du sie rückgängig.\n',
}

const chinese: typeof english = {
  start: `这是**内置演示，不是语言模型**：下面的内容是事先准备的，但每一步都是真实的。

回答里可以有表格：

| 步骤 | 由谁完成 | 你会看到 |
| --- | --- | --- |
| 思考 | 模型 | 折叠起来的思考过程 |
| 行动 | 工具 | 输入了什么、得到了什么 |
| 修改 | 工具，经你允许后 | 差异对比，并可撤销 |

也可以有图表：

\`\`\`mermaid
flowchart LR
  question[你的问题] --> model[模型]
  model -->|需要信息| tool[工具]
  tool --> model
  tool -.->|有风险| you[你允许或拒绝]
  you -.-> tool
  model --> answer[回答]
\`\`\``,
  program: '接下来在这台服务器的沙箱里运行一段 Python：',
  printed: '上面的图就是程序的输出，展开这一步可以看到代码。',
  programFailed: '程序没能在这里运行。遇到这种情况，回答会说明原因并继续。',
  change: '再来修改一下你的项目。修改之前你会先看到内容：允许或拒绝都可以。',
  changed: '文件已写入项目。在项目的**历史**里可以看到这次修改，也可以撤销。',
  rejected: '你拒绝了这次修改，所以什么都没有改变。',
  withoutProject:
    '如果对话属于某个项目，我还会提议修改一个文件：修改前你会先看到内容，之后也可以撤销。',
  end: '导览到此结束。换成真正的模型后，用自己的话提问就行。',
  file: '# 导览的文件\n\n你允许了这次修改。可以在项目的历史里撤销它。\n',
}
