class PiSubagents < Formula
  desc "{{description}}"
  homepage "{{repository}}"
  url "{{repository}}/releases/download/v{{version}}/{{folder}}.tar.gz"
  sha256 "{{sha256}}"
  license "{{license}}"

  depends_on arch: :{{homebrew}}
  depends_on :linux

  def install
    bin.install "pi-subagents"
    man1.install Dir["man/man1/*.1"]
    bash_completion.install "completions/pi-subagents.bash" => "pi-subagents"
    zsh_completion.install "completions/_pi-subagents"
    fish_completion.install "completions/pi-subagents.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/pi-subagents --version")
  end
end
