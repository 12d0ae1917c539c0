// What the demo model says in Chinese.
import type { DemoTexts } from './demo-texts.ts'

export const chinese: DemoTexts = {
  thinkingBefore: (names) => `演示规则认出了这个请求，对应的工具：${names}。`,
  thinkingTour: '演示模型对导览了然于心。',
  calling: (names) => `稍等：${names}。`,
  thinkingAfter: '工具已经返回结果，演示模型照实转述。',
  result: (name) => `${name}：`,
  signature: '*我是内置的演示模型，不是语言模型：我只转述工具的结果。*',
  thinkingPlain: '没有任何演示规则符合这条消息。',
  noTool: (names) =>
    `我是内置的演示模型，不是语言模型。这个请求需要的工具在这里没有启用：${names}。`,
  introduction: `我是**内置的演示模型，不是语言模型**，只能用真实的工具回答几个准备好的问题。说“导览”就可以看完整的演示，也可以试试：

- 现在几点了？
- 12 * (3 + 4)
- 半径为 5 的圆的面积
- 列出文件（对话需要属于一个项目）
- 写文件 notes.txt 内容：你好（在项目中，会先征求同意）

想问别的问题，请添加真正的模型：任何兼容 OpenAI 的接口，或本机的 Ollama。`,
  tour: {
    start: `这是**内置演示，不是语言模型**：下面的内容是事先准备的，但每一步都是真实的。

回答里可以有表格：`,
    head: ['步骤', '由谁完成', '你会看到'],
    rows: [
      ['思考', '模型', '折叠起来的思考过程'],
      ['行动', '工具', '输入了什么、得到了什么'],
      ['修改', '工具，经你允许后', '差异对比，并可撤销'],
    ],
    diagrams: '也可以有图表：',
    flow: {
      question: '你的问题',
      model: '模型',
      needs: '需要信息',
      tool: '工具',
      risky: '有风险',
      you: '你允许或拒绝',
      answer: '回答',
    },
    program: '接下来在这台服务器的沙箱里运行一段 Python：',
    plot: '一天的气温（°C）',
    plotted: '图是这段程序画的，展开这一步可以看到代码。',
    programFailed: '程序没能在这里运行。遇到这种情况，回答会说明原因并继续。',
    change: '再来修改一下你的项目。修改之前你会先看到内容：允许或拒绝都可以。',
    changed: '文件已写入项目。在项目的**历史**里可以看到这次修改，也可以撤销。',
    rejected: '你拒绝了这次修改，所以什么都没有改变。',
    withoutProject:
      '如果对话属于某个项目，我还会提议修改一个文件：修改前你会先看到内容，之后也可以撤销。',
    end: '导览到此结束。换成真正的模型后，用自己的话提问就行。',
    file: '# 导览的文件\n\n你允许了这次修改。可以在项目的历史里撤销它。\n',
  },
}
